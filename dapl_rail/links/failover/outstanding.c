/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/outstanding.h"

#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

/* How many of the link's own requests have been posted on its EP. */
static uint64_t posted_on_ep(const struct link *link)
{
    const struct failover *f = link->failover;
    if (link->state == LINK_UP)
        return link->queue.posted;
    bool again = link->state == LINK_LOST && f->loss.synced;
    return again && f->replay.carrier == link ? f->replay.next
                                              : link->queue.retired;
}

/* The op whose event comes next, or NULL. */
static const struct op *op_next(const struct link *link)
{
    const struct queue *q = &link->queue;
    if (q->ops_tail == q->ops_head)
        return NULL;
    const struct op *op = op_first(q);
    return op->posted <= posted_on_ep(link) ? op : NULL;
}

static const struct carried *carried_next(const struct link *link)
{
    const struct carrier *c = &link->failover->carrier;
    return c->tail != c->head ? &c->ring[c->tail % CARRIED_MAX] : NULL;
}

bool link_awaits_event(const struct link *link)
{
    return op_next(link) || carried_next(link);
}

uint64_t link_outstanding(const struct link *link)
{
    const struct op *op = op_next(link);
    const struct carried *carried = carried_next(link);
    uint64_t end = op ? op->posted : posted_on_ep(link);
    uint64_t bytes = carried ? carried->bytes : 0;
    for (uint64_t n = link->queue.retired; n < end; n++)
        bytes += journal_at(&link->journal, n)->bytes;
    return bytes;
}

uint64_t peer_outstanding(const struct peer *peer)
{
    const struct link *link;
    uint64_t most = 0;
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));) {
        bool up = link->journal.records && link->ep.state == EP_UP;
        uint64_t bytes = up ? link_outstanding(link) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t link_completed(const struct link *link)
{
    return link->queue.retired + link->queue.at_once +
           link->failover->replay.completed;
}

uint64_t peer_completed(const struct peer *peer, uint32_t rails)
{
    const struct link *link;
    uint64_t n = atomic_load_explicit(&peer->progress, memory_order_relaxed);
    for (unsigned at = 0; (link = peer_next(peer, rails, &at));)
        n += link_completed(link);
    return n + peer->completed;
}

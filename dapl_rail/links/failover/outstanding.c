/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/outstanding.h"

#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

/* DTOs of its own that are posted on its EP. */
static uint64_t posted_on(const struct link *link)
{
    if (link->state == LINK_UP)
        return link->posted;
    const struct lost *lost = link->lost;
    bool again = link->state == LINK_LOST && lost->synced;
    return again && lost->carrier == link ? lost->at : link->retired;
}

/* The DTO whose event is next, or NULL. */
static const struct op *op_next(const struct link *link)
{
    if (link->ops_tail == link->ops_head)
        return NULL;
    const struct op *op = op_first(link);
    return op->posted <= posted_on(link) ? op : NULL;
}

static const struct carried *carried_next(const struct link *link)
{
    const struct carrier *c = link->carrier;
    return c->tail != c->head ? &c->ring[c->tail % CARRIED] : NULL;
}

bool link_owes(const struct link *link)
{
    return op_next(link) || carried_next(link);
}

uint64_t link_ahead(const struct link *link)
{
    const struct op *op = op_next(link);
    const struct carried *carried = carried_next(link);
    uint64_t end = op ? op->posted : posted_on(link);
    uint64_t bytes = carried ? carried->bytes : 0;
    for (uint64_t n = link->retired; n < end; n++)
        bytes += journal_at(link, n)->bytes;
    return bytes;
}

uint64_t peer_ahead(const struct peer *peer)
{
    const struct link *link;
    unsigned at = 0;
    uint64_t most = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        uint64_t bytes =
            link->journal && link->ep_state == EP_UP ? link_ahead(link) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t peer_completed(const struct peer *peer, uint32_t rails)
{
    const struct link *link;
    unsigned at = 0;
    uint64_t n = atomic_load_explicit(&peer->read, memory_order_relaxed);
    while ((link = peer_next(peer, rails, &at)))
        n += link->retired + link->lost->detoured;
    return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/link.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/ring.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/buffers.h"
#include "dapl_rail/links/ep_release.h"
#include "dapl_rail/links/ep_table.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/fail.h"

/*
 * The EVD must hold every DTO of all its EPs, because all may be flushed at
 * once. It is made large enough for all peers: verbs providers can't resize one
 * that has EPs.
 */
static int evd_check(struct rail *rail)
{
    unsigned need = (rail->links + 1) * link_events(rail);
    if (need <= rail->dto_qlen)
        return 0;
    return rail_fail(rail, DRAIL_ENOMEM,
                     "%s: an EVD holds %u events, %u EPs need %u",
                     rail->info.name, rail->dto_qlen, rail->links + 1, need);
}

/* In one block: the link, its first ops, its slots, and the table of chunks of
 * ops. NULL: out of memory. */
static struct link *link_new(unsigned nslots, unsigned nops)
{
    struct first {
        struct link link;
        struct op ops[OPS_CHUNK];
        struct slot slots[];
    } * first;
    unsigned chunks = (nops + OPS_CHUNK - 1) / OPS_CHUNK;
    size_t slots = nslots * sizeof *first->slots;
    first = alloc_lines(sizeof *first + slots + chunks * sizeof(struct op *));
    if (!first)
        return NULL;
    struct link *link = &first->link;
    link->slots.count = nslots;
    link->slots.all = first->slots;
    link->queue.ops = (struct op **)(first->slots + nslots);
    link->queue.ops[0] = first->ops;
    link->queue.ops_mask = nops - 1;
    return link;
}

int link_open(struct rail *rail, struct peer *peer, unsigned index,
              struct link **out)
{
    drail_t *t = rail->owner;
    struct link *link = link_new(t->cfg.depth + spare_receives(t),
                                 ring_places(rail->request_depth));
    if (!link)
        return rail_fail(rail, DRAIL_ENOMEM, "out of memory");
    link->rail = rail;
    link->peer = peer;
    link->index = index;
    link->queue.full_at = rail->request_depth;
    link->credits.available = (int)t->cfg.depth;
    link->slots.slot_bytes = slot_bytes(t);

    int failed = journal_open(link);
    failed |= failover_open(link); /* also then: link_close() needs it */
    int rc = failed ? rail_fail(rail, DRAIL_ENOMEM, "out of memory")
                    : evd_check(rail);
    rail->links++;
    if (!rc)
        rc = slots_open(link);
    if (rc) {
        link_close(link);
        return rc;
    }
    *out = link;
    return 0;
}

/* The rail counts the link as lost, and the time in which any is. */
static void loss_begins(struct link *link)
{
    struct rail *rail = link->rail;
    struct loss *loss = &link->failover->loss;
    loss->in_rail = true;
    loss->since_ns = job_now(rail->owner->job);
    if (!rail->lost_links++)
        rail->lost_since_ns = loss->since_ns;
}

void link_loss_ended(struct link *link)
{
    struct rail *rail = link->rail;
    struct loss *loss = &link->failover->loss;
    if (!link->journal.records || !loss->in_rail)
        return;
    loss->in_rail = false;
    if (!--rail->lost_links)
        rail->stats.down_ns += job_now(rail->owner->job) - rail->lost_since_ns;
}

static void link_free(struct link *link)
{
    struct queue *q = &link->queue;
    if (link->rail->unreturned && link->rail->unreturned->link == link)
        link->rail->unreturned = NULL;
    slots_close(link);
    failover_close(link);
    journal_close(link);
    sentence_free(&link->why);
    free(link->credits.replies);
    for (unsigned at = OPS_CHUNK; at <= q->ops_mask; at += OPS_CHUNK)
        free(q->ops[at / OPS_CHUNK]);
    free(link);
}

void link_close(struct link *link)
{
    struct rail *rail = link->rail;
    link->closed = true;
    /* no completion is called any more, … */
    link->queue.ops_tail = link->queue.ops_head;
    if (link->journal.records) /* … nor is the carrier waited for */
        link->failover->replay.pending = 0;
    if (link->ep.handle)
        link_down(link, DRAIL_EPEER, "closed");
    link_loss_ended(link);
    link->next_closed = rail->closed;
    rail->closed = link;
    rail->links--;
}

bool links_bury(struct rail *rail, bool all)
{
    struct link **at = &rail->closed, *link;
    bool freed = false;
    while ((link = *at)) {
        bool gone = !link->ep.handle;
        /* receives of an EP that was never connected do not come back */
        if (!gone && (all || !link->ep.begun || link_try_drain(link))) {
            ep_table_remove(link);
            ep_release(rail, link->ep.handle);
            link->ep.handle = DAT_HANDLE_NULL;
            freed = true;
        }
        if (!gone && !all) { /* events that are left point to the link */
            at = &link->next_closed;
            continue;
        }
        *at = link->next_closed;
        link_free(link);
    }
    if (all) {
        ep_release_all(rail);
        ep_table_free(rail);
        buffers_free(rail);
    }
    return freed;
}

void link_down(struct link *link, int code, const char *format, ...)
{
    struct peer *peer = link->peer;
    int none = 0;
    va_list args;

    if (link->state >= LINK_DOWN)
        return;
    link->state = LINK_DOWN;
    link_loss_ended(link);
    va_start(args, format);
    sentence_vwrite(&link->why, format, args);
    va_end(args);
    link->error = code;
    /* before error, after which it is read */
    if (!atomic_load(&peer->error))
        atomic_store(&peer->error_rail, link->rail->index);
    atomic_compare_exchange_strong(&peer->error, &none, code);
    peer_unsettle(peer);
    ep_end(link);
    link_flush(link);
}

/* May the link go on over another one? A rail's thread may ask. */
static bool may_go_on(const struct link *link)
{
    const struct peer *peer = link->peer;
    return link->journal.records && !peer->ending && !atomic_load(&peer->error);
}

void link_lose(struct link *link, int code, const char *format, ...)
{
    bool was_up = link->ep.state == EP_UP;
    bool first = link->state == LINK_CONNECTING;
    struct failover *f = link->failover;
    va_list args;
    char why[SENTENCE_BYTES];
    if ((link->ep.state == EP_NONE && !first) || link->ep.state == EP_ENDING)
        return;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (!may_go_on(link)) {
        link_down(link, code, "%s", why);
        return;
    }
    link->error = first ? code : DRAIL_EPEER;
    f->reconnect.retry_ns = 0;
    f->loss.never_up = !was_up;
    if (was_up || first)
        sentence_write(&link->why, "%s", why);
    f->loss.losses += was_up;
    if (link->state <= LINK_UP || link->post_failed) {
        if (!link->post_failed) /* else set before the request that failed */
            f->replay.tried = link->queue.posted;
        link->state = LINK_LOST;
        link->post_failed = false;
        f->replay.carrier = link;
        link->queue.full_at = link->queue.retired + link->rail->request_depth;
        loss_begins(link);
        atomic_fetch_and(&link->peer->up, ~RAIL_BIT(link->rail->index));
    }
    peer_unsettle(link->peer);
    ep_end_gracefully(link);
    link_flush(link);
}

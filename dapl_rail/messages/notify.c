/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications. One travels as a send on every rail that carries a part of
 * the data, after the writes: a receive completes after the writes that were
 * posted before its send (seed 004, section 2). It is delivered when all its
 * parts have come, in the order of the sender's puts.
 */
#include <stdlib.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/messages/inbox.h"
#include "dapl_rail/messages/notify.h"

/* --------------------------------------------------------------- inboxes */

int inbox_open(struct inbox *box, unsigned capacity)
{
    uint32_t n = 1;
    while (n < capacity)
        n *= 2;
    box->ring = calloc(n, sizeof *box->ring);
    box->mask = n - 1;
    return box->ring ? 0 : DRAIL_ENOMEM;
}

int inbox_put(struct inbox *box, const struct wire *wire, unsigned rail,
              uint32_t rails, struct slot *slot)
{
    struct arrival *a = &box->ring[wire->seq & box->mask];
    uint32_t bit = RAIL_BIT(rail);
    if (wire->seq - box->next > box->mask ||
        atomic_load_explicit(&a->arrived, memory_order_relaxed) & bit)
        return -1;
    /* parts on other rails store the same values */
    atomic_store_explicit(&a->id, wire->id, memory_order_relaxed);
    atomic_store_explicit(&a->expected, rails, memory_order_relaxed);
    if (slot)
        a->slot = slot;
    atomic_fetch_or_explicit(&a->arrived, bit, memory_order_release);
    return 0;
}

struct arrival *inbox_next(const struct inbox *box)
{
    return &box->ring[box->next & box->mask];
}

bool inbox_ready(const struct inbox *box)
{
    struct arrival *a = inbox_next(box);
    uint32_t arrived = atomic_load_explicit(&a->arrived, memory_order_acquire);
    return arrived &&
           arrived == atomic_load_explicit(&a->expected, memory_order_relaxed);
}

void inbox_pop(struct inbox *box)
{
    struct arrival *a = inbox_next(box);
    uint32_t rails = atomic_load_explicit(&a->expected, memory_order_relaxed);
    box->likely = rails | box->last;
    box->last = rails;
    atomic_store_explicit(&a->expected, 0, memory_order_relaxed);
    atomic_store_explicit(&a->arrived, 0, memory_order_relaxed);
    a->slot = NULL;
    box->next++;
}

/* --------------------------------------------------------- notifications */

int note_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct note_wait *w = arg;
    struct arrival *a = inbox_next(&w->peer->notes);
    (void)t;
    uint32_t arrived = atomic_load_explicit(&a->arrived, memory_order_acquire);
    if (arrived) {
        *owed =
            atomic_load_explicit(&a->expected, memory_order_relaxed) & ~arrived;
        if (!*owed)
            return 1;
    } else {
        *owed = w->rails;
    }
    return atomic_load_explicit(&w->peer->error, memory_order_relaxed);
}

int note_send(struct link *link, uint32_t seq, uint32_t id, uint32_t rails,
              const struct completion *done)
{
    struct wire wire = {
        .type = WIRE_NOTIFY, .id = id, .seq = seq, .rails = rails};
    return link_send(link, &wire, NULL, 0, done);
}

uint32_t note_deliver(struct peer *peer)
{
    struct arrival *a = inbox_next(&peer->notes);
    uint32_t id = atomic_load_explicit(&a->id, memory_order_relaxed);
    uint32_t rails = atomic_load_explicit(&a->expected, memory_order_relaxed);
    inbox_pop(&peer->notes);
    for (; rails; rails &= rails - 1)
        link_owe(peer->links[__builtin_ctz(rails)]);
    return id;
}

int drail_notify(drail_t *t, unsigned peer, unsigned flags, uint32_t id)
{
    drail_xfer_t nothing = {0};
    return drail_put(t, peer, &nothing, flags | DRAIL_NOTIFY, id, NULL);
}

int drail_notify_wait(drail_t *t, unsigned rank, uint32_t *id, int timeout_ms)
{
    int rc;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    struct note_wait w = {.peer = peer, .rails = peer->notes.likely};
    if (!w.rails)
        w.rails = engine_rails(t);
    rc = progress_wait(t, note_owed, &w, timeout_or(t, timeout_ms));
    if (rc)
        return outcome(t, peer, rc, "drail_notify_wait");
    uint32_t value = note_deliver(peer);
    if (id)
        *id = value;
    return 0;
}

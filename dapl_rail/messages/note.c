/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications. One travels as a send on every rail that carries a part of
 * the data, after the writes: a receive completes after the writes that were
 * posted before its send (seed 004, section 2). It is delivered when all its
 * parts have come, in the order of the sender's puts.
 */
#include "dapl_rail/messages/note.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"

int note_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct note_wait *w = arg;
    struct arrival *a = inbox_next(&w->peer->mail->notes);
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
    struct arrival *a = inbox_next(&peer->mail->notes);
    uint32_t id = atomic_load_explicit(&a->id, memory_order_relaxed);
    uint32_t rails = atomic_load_explicit(&a->expected, memory_order_relaxed);
    inbox_pop(&peer->mail->notes);
    for (; rails; rails &= rails - 1)
        link_owe(peer->links[__builtin_ctz(rails)]);
    return id;
}

const char *note_arrived(struct slot *slot)
{
    struct link *link = slot->link;
    const struct rail *rail = link->rail;
    const struct wire *wire = (const struct wire *)slot->data;
    if (!(wire->rails & RAIL_BIT(rail->index)) ||
        wire->rails >> rail->owner->nrails)
        return "rails of a notification";
    if (inbox_put(&link->peer->mail->notes, wire, rail->index, wire->rails,
                  NULL))
        return "sequence of a notification";
    slot_return(slot, false); /* owed when delivered */
    return NULL;
}

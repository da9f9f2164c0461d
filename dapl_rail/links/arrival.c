/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/arrival.h"

#include <stddef.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

/* False: the peer has returned more credits than it has. */
static bool credits_arrived(struct link *link, unsigned credits)
{
    struct credits *c = &link->credits;
    link->rail->stats.recvs++;
    c->received++;
    c->available += (int)credits;
    int left =
        (int)link->rail->owner->cfg.depth - c->available - (int)c->reserved;
    /* The peer has all messages, and what went before them. It may return the
     * credit of the last one only later. */
    if (left == 0 || left == 1)
        link->queue.shown = c->last[left];
    return left >= 0;
}

const char *arrival_message(struct slot *slot)
{
    const drail_t *t = slot->link->rail->owner;
    const struct wire *wire = (const struct wire *)slot->data;

    if (!credits_arrived(slot->link, wire->credits))
        return "credits";
    if (wire->type == WIRE_CREDIT) {
        slot_return(slot, false);
        return NULL;
    }
    if (wire->type == WIRE_PROGRESS) {
        atomic_fetch_add_explicit(&slot->link->peer->progress, 1,
                                  memory_order_relaxed);
        slot_return(slot, true);
        return NULL;
    }
    if (wire->type >= WIRE_TYPES || !t->handlers->arrived[wire->type])
        return "type";
    return t->handlers->arrived[wire->type](slot);
}

const char *arrival_immediate(struct slot *slot, uint32_t data)
{
    if (!credits_arrived(slot->link, data & IMMED_CREDITS))
        return "credits";
    return slot->link->rail->owner->handlers->noted(slot,
                                                    data >> IMMED_CREDIT_BITS);
}

const char *arrival_direct(struct link *link, unsigned credits)
{
    if (!credits_arrived(link, credits))
        return "credits";
    if (++link->credits.owed >= link->rail->owner->cfg.depth / 2 ||
        link->credits.replies)
        link_pay(link);
    return NULL;
}

void slot_return(struct slot *slot, bool owe)
{
    struct link *link = slot->link;
    int rc = slot_recycle(slot);
    if (rc)
        link_lose(link, rc, "%s", link->rail->error.text);
    if (owe && link->state < LINK_DOWN)
        link_owe(link);
}

void slot_return_soon(struct slot *slot)
{
    struct rail *rail = slot->link->rail;
    slots_return_now(rail);
    if (slot->link->credits.owed + 1 < rail->owner->cfg.depth / 2)
        rail->unreturned = slot;
    else
        slot_return(slot, true);
}

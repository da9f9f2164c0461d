/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/arrival.h"

#include <stdbool.h>
#include <stddef.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

static bool credits_arrived(struct link *link, unsigned credits)
{
    link->rail->stats.recvs++;
    link->received++;
    link->credits += (int)credits;
    return link->credits + (int)link->reserved <=
           (int)link->rail->owner->cfg.depth;
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
    if (wire->type == WIRE_READING) {
        atomic_fetch_add_explicit(&slot->link->peer->read, 1,
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

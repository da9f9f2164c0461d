/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that have arrived on a link, or for it over another one; and the
 * return of the slots that hold them. */
#ifndef DRAIL_LINKS_ARRIVAL_H
#define DRAIL_LINKS_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/rails/rail.h"

struct link;
struct slot;

/* Count the message, take its credits, and pass it to its handler. NULL, or
 * what is wrong with it. */
const char *arrival_message(struct slot *slot);
/* The same for an RDMA write with this immediate data. */
const char *arrival_immediate(struct slot *slot, uint32_t data);

/* Counts a message that was taken without a slot, and takes its credits; owes
 * it one. NULL, or what is wrong with it. */
const char *arrival_direct(struct link *link, unsigned credits);

/* The slot receives again. owe: its message had needed a credit. */
void slot_return(struct slot *slot, bool owe);
/* The same with owe, but later, so that the caller goes on sooner: at the next
 * slots_return_now(), or at the next call of this. At once if a credit message
 * is due. */
void slot_return_soon(struct slot *slot);
/* The rail has no event. */
static inline void slots_return_now(struct rail *rail)
{
    struct slot *slot = rail->unreturned;
    rail->unreturned = NULL;
    if (slot)
        slot_return(slot, true);
}

#endif

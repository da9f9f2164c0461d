/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-to-all with forwarding. A rank has N slots with one block each. In a step
 * it sends all slots whose digit has a given value, in one message, and puts
 * the blocks that it receives into slots whose digit has a given value. Blocks
 * are not moved when they arrive: a slot records where its block is. So the
 * shifts of Bruck's algorithm need no copies of their own: the first is a part
 * of packing, the last of copying out.
 */
#ifndef DCOLL_FORWARD_H
#define DCOLL_FORWARD_H

#include "coll/build/grant.h"

/** One message sent and one received. */
struct forward_hop {
    unsigned to, from, port, step;
    unsigned send_digit, recv_digit;
};

struct forward {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned n;
    grant_t grant;
    dcoll_place_t *slot;      /**< by slot: where its block is */
    struct forward_hop *hops; /**< of all steps, fewer than n */
    unsigned nhops, done;
    size_t landing; /**< offset in TEMP for the next message received */
};

/** The caller then sets the slots. 0, or DRAIL_ENOMEM, also in s->error. */
int forward_init(struct forward *f, const dcoll_shape_t *shape,
                 const dcoll_args_t *args, dcoll_schedule_t *s);
/** Adds a hop to the next forward_step(). No two hops have the same source. */
void forward_add(struct forward *f, struct forward_hop hop);
/** Performs the hops added since the last step. The digit of a slot is that of
 *  @p weight to the base @p radix. */
void forward_step(struct forward *f, unsigned weight, unsigned radix);
/** Grants the next puts to me, and frees the memory of forward_init(). */
void forward_end(struct forward *f);

#endif

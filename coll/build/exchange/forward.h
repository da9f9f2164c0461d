/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-to-all with forwarding: a rank has N slots, one block each. In a step it
 * gives away those whose digit has a certain value, in one message, and what
 * comes in goes to slots whose digit has a certain value. Blocks are not moved
 * when they arrive: a slot remembers where its block is. So the shifts that
 * frame Bruck's algorithm are no copies of their own: the first one is part of
 * packing, the last one of copying out.
 */
#ifndef DCOLL_FORWARD_H
#define DCOLL_FORWARD_H

#include "coll/build/grant.h"

/** A message out and one in. */
struct forward_hop {
    unsigned to, from, port, step;
    unsigned send_digit, recv_digit;
};

struct forward {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned n;
    grant_t grant;
    dcoll_place_t *slot;      /**< n: where its block is */
    struct forward_hop *hops; /**< of all steps, fewer than n */
    unsigned nhops, done;
    size_t landing; /**< offset in TEMP of the next message that comes in */
};

/** Slots are where the caller sets them. DRAIL_ENOMEM: in s->error. */
int forward_init(struct forward *f, const dcoll_shape_t *shape,
                 const dcoll_args_t *args, dcoll_schedule_t *s);
/** For the next forward_step(). All sources differ, also between steps. */
void forward_add(struct forward *f, struct forward_hop hop);
/** The hops that were added since the last step. The digit of a slot is the
 *  one of @p weight to the base @p radix. */
void forward_step(struct forward *f, unsigned weight, unsigned radix);
/** Lets others go on; frees what init made. */
void forward_end(struct forward *f);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct exchanges: each rank sends to the ranks at distances 1 … N-1 after it,
 * k in a step, one per port (Qian and Afsahi 2008, section 5.1.2, equation 2).
 * Ports keep the steps apart, so unless it is paced, everything is posted at
 * once.
 */
#ifndef DCOLL_DIRECT_H
#define DCOLL_DIRECT_H

#include "coll/build/grant.h"

struct direct {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    unsigned rank;
    dcoll_schedule_t *s;
    grant_t grant;
    unsigned first_step; /**< of the messages */
    /** Adds the put to a rank. */
    void (*put)(const struct direct *direct, unsigned target, unsigned port);
    /** Adds copies to do while the first messages are under way; may be NULL.
     */
    void (*meanwhile)(const struct direct *direct);
};

/** The number of steps. */
unsigned direct_steps(const dcoll_shape_t *shape);

/** In this order: grants puts to me; the exchange; after all has been read. */
void direct_open(const struct direct *direct);
void direct_exchange(const struct direct *direct);
void direct_close(const struct direct *direct);

#endif

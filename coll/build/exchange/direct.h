/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct exchanges: each rank sends to those at distances 1 … N-1 after it, k a
 * step, one a port (seed 000, section 5.1.2, eq. 2). The ports keep the steps
 * apart: unless it is paced, all is posted at once.
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
    /** What goes to a rank. */
    void (*put)(const struct direct *direct, unsigned target, unsigned port);
    /** Copies while the first messages are under way; may be NULL. */
    void (*meanwhile)(const struct direct *direct);
};

/** Steps of an exchange. */
unsigned direct_steps(const dcoll_shape_t *shape);

void direct_open(const struct direct *direct);
void direct_exchange(const struct direct *direct);
/** When everything has been read. */
void direct_close(const struct direct *direct);

#endif

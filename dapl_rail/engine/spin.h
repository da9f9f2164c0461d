/* SPDX-License-Identifier: BSD-3-Clause */
/* Polling before a sleep. */
#ifndef DRAIL_ENGINE_SPIN_H
#define DRAIL_ENGINE_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Polling before a sleep. After a moment it gives the core away between polls,
 * as what it waits for may need this very core; and where waits have been long
 * it polls less. Belongs to one waiting thread.
 */
struct spin {
    unsigned max_us, us;
    uint64_t start_ns;
    unsigned turns;
};

static inline void spin_begin(struct spin *s)
{
    s->start_ns = 0;
    s->turns = 0;
}
/* Between polls: is it worth another one? */
bool spin_more(struct spin *s);
/* What was waited for has come, perhaps after a sleep. */
void spin_end(struct spin *s);

#endif

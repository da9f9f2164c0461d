/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * While this process, or the whole machine, stands still, peers can't answer,
 * and their answers can't be read. That time must not count against a deadline.
 * A thread that minds deadlines looks at the clock every STANDSTILL_LOOK_NS; if
 * it comes later than that, it has stood still. Also for the providers.
 */
#ifndef DRAIL_STANDSTILL_H
#define DRAIL_STANDSTILL_H

#include <stdint.h>

#define STANDSTILL_LOOK_NS 100000000u

/* The part of the time between two looks by which deadlines are to move. */
static inline uint64_t standstill_ns(uint64_t took_ns)
{
    return took_ns > STANDSTILL_LOOK_NS ? took_ns - STANDSTILL_LOOK_NS : 0;
}

/* The same for a thread that meant to look at @p planned_ns (0: it has not
 * looked before) and does so now. */
static inline uint64_t standstill_since(uint64_t planned_ns, uint64_t now_ns)
{
    return planned_ns && now_ns > planned_ns
               ? standstill_ns(now_ns - planned_ns)
               : 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When to give up waiting, by a clock of the caller. A waiting thread looks at
 * the clock now and then. A turn from one look to the next counts for TURN_MS
 * at most: a longer one means that the process or the machine stood still. Then
 * peers could not answer, or their answers have not been read yet.
 */
#ifndef DRAIL_DEADLINE_H
#define DRAIL_DEADLINE_H

#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/platform/standstill.h"

#define TURN_MS ((int)(STANDSTILL_LOOK_NS / 1000000u))
#define NEVER   UINT64_MAX

struct deadline {
    uint64_t at_ns;         /* or NEVER */
    uint64_t looked_ns;     /* last look at the clock */
    struct deadline *whole; /* of which this is a part, and which moves with it;
                               or NULL */
};

/* A deadline in so many nanoseconds. */
static inline struct deadline deadline_after(uint64_t now_ns, uint64_t ns)
{
    return (struct deadline){ns < NEVER - now_ns ? now_ns + ns : NEVER, now_ns,
                             NULL};
}

/* The same, but not later than the whole deadline, which must outlive it and
 * not be used meanwhile. */
static inline struct deadline deadline_within(struct deadline *whole,
                                              uint64_t now_ns, uint64_t ns)
{
    struct deadline d = deadline_after(now_ns, ns);
    d.whole = whole;
    if (whole->at_ns < d.at_ns)
        d.at_ns = whole->at_ns;
    return d;
}

/* A turn has ended: moves the deadline by the time over TURN_MS, and returns
 * this time. */
static inline uint64_t deadline_turn(struct deadline *d, uint64_t now_ns)
{
    uint64_t still = standstill_ns(now_ns - d->looked_ns);
    for (; d; d = d->whole) {
        if (d->at_ns != NEVER)
            d->at_ns += still;
        d->looked_ns = now_ns;
    }
    return still;
}

/* Nanoseconds that were left at the last look; 0: it has passed. */
static inline uint64_t deadline_left(const struct deadline *d)
{
    return d->at_ns > d->looked_ns ? d->at_ns - d->looked_ns : 0;
}

#endif

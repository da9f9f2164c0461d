/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Until when to wait, by a clock of the caller's. Who waits looks now and then,
 * and a turn from one look to the next counts for so much at most: where one
 * took longer, this process, or all of the machine, has stood still. Then peers
 * could not answer, or what they have said is still to be taken.
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
    uint64_t looked_ns;     /* when it was set, or moved last */
    struct deadline *whole; /* that this is a part of, and moves; or NULL */
};

/* In so many nanoseconds. */
static inline struct deadline deadline_after(uint64_t now_ns, uint64_t ns)
{
    return (struct deadline){ns < NEVER - now_ns ? now_ns + ns : NEVER, now_ns,
                             NULL};
}

/* The same, but not later than the whole, which outlives it and is not looked
 * at meanwhile. */
static inline struct deadline deadline_within(struct deadline *whole,
                                              uint64_t now_ns, uint64_t ns)
{
    struct deadline d = deadline_after(now_ns, ns);
    d.whole = whole;
    if (whole->at_ns < d.at_ns)
        d.at_ns = whole->at_ns;
    return d;
}

/* A turn has ended: moves it by what that took too long, and returns this. */
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

/* Nanoseconds that are left at the last look; 0: it is over. */
static inline uint64_t deadline_left(const struct deadline *d)
{
    return d->at_ns > d->looked_ns ? d->at_ns - d->looked_ns : 0;
}

#endif

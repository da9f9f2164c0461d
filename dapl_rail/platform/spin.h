/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How every wait in transport and collectives goes from polling to sleeping. A
 * thread first only polls. After a moment it yields its core between polls: the
 * thread that it waits for may need this core. At last it sleeps; earlier, if
 * its last waits were long. A spin belongs to one thread.
 *
 *     spin_begin(&spin);
 *     while (!there() && spin_more(&spin))
 *         ;
 *     … sleep if it is still not there …
 *     spin_end(&spin);
 */
#ifndef DRAIL_SPIN_H
#define DRAIL_SPIN_H

#include "dapl_rail/platform/busywait.h"
#include "dapl_rail/platform/platform.h"

/* Polls between looks at the clock; a yield may take as long as many. */
#define SPIN_CHECK_TURNS 16u
/* Polls without a pause, which would cost a short wait as much as a cache line
 * takes to come. */
#define SPIN_KEEN_TURNS 64u
/* for yield_ns: time of a cache line's transfer and a short handler */
#define SPIN_YIELD_NS 3000u

struct spin {
    const struct drail_platform *platform;
    uint64_t yield_ns;         /* polling before it yields; 0: at once */
    uint64_t max_ns, limit_ns; /* polling before it sleeps: at most, and now */
    uint64_t start_ns;         /* 0: too early to look at the clock */
    unsigned turns;
    bool yielding;
};

static inline void spin_init(struct spin *s, const struct drail_platform *p,
                             uint64_t yield_ns, uint64_t max_ns)
{
    *s = (struct spin){.platform = p,
                       .yield_ns = yield_ns,
                       .max_ns = max_ns,
                       .limit_ns = max_ns};
}

static inline void spin_begin(struct spin *s)
{
    s->start_ns = 0;
    s->turns = 0;
    s->yielding = !s->yield_ns;
}

/* Call it between polls. True: poll again; false: sleep. */
static inline bool spin_more(struct spin *s)
{
    const struct drail_platform *p = s->platform;
    if (s->yielding)
        p->yield(p);
    else if (s->turns >= SPIN_KEEN_TURNS || platform_is_simulated(p))
        p->relax(p);
    if (++s->turns % SPIN_CHECK_TURNS && !s->yielding)
        return true;
    uint64_t now = p->now_ns(p);
    if (!s->start_ns)
        s->start_ns = now;
    s->yielding = now - s->start_ns >= s->yield_ns;
    return now - s->start_ns < s->limit_ns;
}

/* The wait is over, perhaps after a sleep. */
static inline void spin_end(struct spin *s)
{
    if (!s->start_ns)
        return;
    s->limit_ns = busywait_limit_after(s->limit_ns, s->max_ns,
                                       platform_now(s->platform) - s->start_ns);
}

/* How long a thread that has waited so long may sleep before it looks again: a
 * part of that time, as much as a missed wake-up may cost, within bounds. */
static inline uint64_t spin_slice_ns(uint64_t waited_ns, uint64_t least_ns,
                                     uint64_t most_ns)
{
    uint64_t part = waited_ns / 8;
    return part < least_ns ? least_ns : part > most_ns ? most_ns : part;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by loops that poll: the time, a pause between two polls, and for how
 * long polling pays before the thread sleeps. Also for the providers.
 */
#ifndef DRAIL_BUSYWAIT_H
#define DRAIL_BUSYWAIT_H

#include <stdint.h>
#include <time.h>

static inline uint64_t busywait_clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t busywait_now_ns(void)
{
    return busywait_clock_ns(CLOCK_MONOTONIC);
}

/* Leaves the core's execution units to its other hardware thread. */
static inline void busywait_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A wait has taken so long, whose polling phase had this limit: returns the
 * limit of the next wait. Waits that polling can serve get the longest one
 * (@p most_ns), long waits soon get none. */
static inline uint64_t busywait_limit_after(uint64_t limit_ns, uint64_t most_ns,
                                            uint64_t took_ns)
{
    return took_ns < 2 * most_ns ? most_ns : limit_ns / 2;
}

#endif

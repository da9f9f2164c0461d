/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of the benchmarks, in nanoseconds. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "dapl_rail/platform/platform.h"

/** Where the ranks of this process live, if their time is another than that of
 *  this machine; NULL: it is not. */
extern const struct drail_platform *clock_elsewhere;

static inline uint64_t clock_read_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/** Elapsed time; read through the vDSO, no system call. */
static inline uint64_t clock_ns(void)
{
    const struct drail_platform *p = clock_elsewhere;
    return __builtin_expect(!p, 1) ? clock_read_ns(CLOCK_MONOTONIC)
                                   : p->now_ns(p);
}

/** CPU time of all threads of this process; a system call: not for loops. */
static inline uint64_t clock_cpu_ns(void)
{
    const struct drail_platform *p = clock_elsewhere;
    return p ? p->cpu_ns(p) : clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/** Gives another rank a chance to run, which may share the core.
 *  @param deadline 0 at first, then kept here. @return 0, DRAIL_ETIMEOUT after
 *  30 s. */
int clock_let_others(uint64_t *deadline);

#endif

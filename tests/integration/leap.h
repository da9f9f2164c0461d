/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock of the ranks that leaps ahead, as if their machine had stood still.
 */
#ifndef TESTS_LEAP_H
#define TESTS_LEAP_H

#include "dapl_rail/base/limits.h"
#include "machine.h"
#include "ranks.h"

static const struct drail_platform *machine;
static _Atomic uint64_t ahead_ns; /* of this rank */
static _Atomic bool *leapt;       /* in memory that the ranks share */

static inline void leap(uint64_t ns)
{
    ahead_ns = ns;
    *leapt = true;
}

static inline uint64_t leap_now(const struct drail_platform *p)
{
    return machine->now_ns(machine) + ahead_ns;
}

static inline void leap_sleep_until(const struct drail_platform *p, uint64_t ns)
{
    machine->sleep_until(machine, ns - ahead_ns);
}

/* run_tests() with such a clock. */
static inline int
leap_run_tests(const struct test *tests, size_t n, int argc, char **argv,
               void (*sleep_until)(const struct drail_platform *, uint64_t))
{
    machine = machine_platform();
    check(machine);
    struct drail_platform platform = *machine;
    platform.now_ns = leap_now;
    platform.sleep_until = sleep_until;
    ranks_platform = &platform;
    leapt = shared_memory(sizeof *leapt);
    return run_tests(tests, n, 1, argc, argv);
}

#endif

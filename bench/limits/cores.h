/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores that this process may use, and pinning to them. */
#ifndef BENCH_CORES_H
#define BENCH_CORES_H

#include <sched.h>

typedef struct cores {
    int cpu[CPU_SETSIZE]; /**< numbers of the system, ascending */
    unsigned count;       /**< 0: not known */
} cores_t;

/** Those that the calling thread may run on. */
void cores_allowed(cores_t *cores);

/** Pins the calling thread; a negative @p cpu leaves it alone.
 *  @return 0, or -1 with errno. */
int cores_pin(int cpu);

#endif

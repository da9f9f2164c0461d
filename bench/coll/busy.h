/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computation of a given length on private data: what a program does while a
 * collective is under way.
 */
#ifndef BENCH_COLL_BUSY_H
#define BENCH_COLL_BUSY_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define BUSY_VALUES 64

typedef struct busy {
    drail_job_t *job;
    double rounds_per_ns;
    double values[BUSY_VALUES];
} busy_t;

/** Finds out how fast this core is; takes some milliseconds, simulated none. */
void busy_calibrate(busy_t *busy, drail_job_t *job);
/** Computes for about so long, without a look at the clock; simulated: lets the
 *  time pass. */
void busy_for(busy_t *busy, uint64_t ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures all setups of a size in turn, in rotated order, until the intervals
 * are narrow enough.
 */
#ifndef BENCH_COLL_MEASURE_H
#define BENCH_COLL_MEASURE_H

#include "step.h"

/** Measures all cells, and validates them if asked. */
int coll_measure(coll_run_t *run);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Measuring: all setups of a size in turn, A B A B, until it is enough. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench/limits/limit.h"
#include "result.h"

/**
 * Rank 0: measures every cell of @p result (and validates it if asked), and
 * lets rank 1 go; @p limits are measured in turn with the cells. On failure @p
 * where says what was being done; what has been measured so far stays in the
 * result.
 */
int measure(session_t *session, result_t *result, limits_t *limits, char *where,
            size_t size);

#endif

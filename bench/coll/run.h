/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a measurement of a collective. */
#ifndef BENCH_COLL_RUN_H
#define BENCH_COLL_RUN_H

#include "result.h"

/** Forks the ranks, which fill in the result. A failure is one line on stderr.
 *  @return exit status 0, 1 or 2. */
int coll_run(coll_result_t *result);

#endif

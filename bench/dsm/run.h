/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of the test of shared memory. */
#ifndef BENCH_DSM_RUN_H
#define BENCH_DSM_RUN_H

#include "result.h"

/** Runs all groups. A failure is one line on stderr. @return exit status 0, 1
 *  or 2. */
int dsm_run(dsm_result_t *result);

#endif

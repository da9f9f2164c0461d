/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a measurement of a collective. */
#ifndef BENCH_COLL_RUN_H
#define BENCH_COLL_RUN_H

#include "step.h"

/** Forks the ranks, which fill in the result. A failure is one line on stderr.
 *  @return exit status 0, 1 or 2. */
int coll_run(coll_result_t *result, const coll_work_t *work);

/** A whole test, with its reports. @p plan: as coll_plan_make() wants it.
 *  @return exit status. */
int coll_test(const bench_test_t *test, const options_t *opts,
              coll_plan_t *plan, const coll_work_t *work);

#endif

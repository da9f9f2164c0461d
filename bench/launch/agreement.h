/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that were launched one by one may have been given different options. */
#ifndef BENCH_AGREEMENT_H
#define BENCH_AGREEMENT_H

#include "bench/options/options.h"

/** All ranks call it. @p differs: the option, NULL: none, and the first rank
 *  that differs from rank 0 in it. @return 0 or DRAIL_E… */
int agreement_find(drail_job_t *job, const options_t *opts,
                   const char **differs, unsigned *rank);

#endif

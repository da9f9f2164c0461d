/* SPDX-License-Identifier: BSD-3-Clause */
/* What bounds the cells of a run: measured on this machine, or the rate of the
 * links. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include "cores.h"
#include "bench/report/result.h"

/**
 * Rank 0, while the peer waits: fills in the limit of every cell and notes
 * what it is. Takes at most about 1.5 s. @p cores are those of the job.
 * @return 0 or DRAIL_ENOMEM.
 */
int limit_measure(result_t *result, const cores_t *cores);

const char *limit_kind_name(limit_kind_t kind);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the programs on one rank alone: the base of speed-ups. */
#ifndef BENCH_DSM_ALONE_H
#define BENCH_DSM_ALONE_H

#include "result.h"

/** Programs that are to be measured. */
unsigned dsm_programs(const options_t *opts);

/** When no rank is there any more; by repeats, within what is left of @p rule's
 *  time, but each program once at least. SIGINT and SIGTERM end it.
 *  @return 0, DRAIL_EINTR or DRAIL_ENOMEM: what is not known then has no
 *  summary. */
int dsm_time_alone(dsm_result_t *result, const sampling_t *rule);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What bounds the cells of a run: measured on this machine, or the rate of the
 * links. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include "cores.h"
#include "bench/pair/result.h"

/** Rank 0's measurements of limits: one more configuration of each size, which
 *  is sampled in turn with the rows. */
typedef struct limits limits_t;

/** Chooses the kind of each cell's limit, notes what it is, and takes memory of
 *  the rails. @p cores are those of the job; they and @p result must outlive
 *  it. @return 0 or DRAIL_E…; limits_close in either case. */
int limits_open(limits_t **limits, result_t *result, drail_t *rail,
                const cores_t *cores);
void limits_close(limits_t *limits);

/** Begins a size, whose cells begin at @p cells. @return 0 or DRAIL_ENOMEM. */
int limits_size(limits_t *limits, cell_t *cells);
/** Is there anything to repeat for this size? */
bool limits_measured(const limits_t *limits);
/** One repeat, while the peer waits. At most result_max_repeats a size. */
void limits_repeat(limits_t *limits);
/** Ends a size: its cells get their limits. */
void limits_conclude(limits_t *limits);

const char *limit_kind_name(limit_kind_t kind);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three loops of single completions.
 *
 * With a window, as the test programs of verbs and UCX measure: so many
 * messages are under way, and the next is posted when the oldest is complete;
 * the target answers only at the end.
 *
 * Batches of RDMA reads: all of a batch are under way, then all complete; the
 * target is not told.
 *
 * Batches of puts that have buffers of their own, with an answer to each batch.
 */
#ifndef BENCH_WINDOW_H
#define BENCH_WINDOW_H

#include "loop.h"

/** One rank's part of a loop; an iteration posts opts->batch messages, of
 *  which opts->window are under way, or, without a window, all.
 *  @p directions: 2: both ranks post. */
int window_run(loop_run_t *run, unsigned directions);

#endif

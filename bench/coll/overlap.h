/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlap of non-blocking calls with computation (`--overlap`), as
 * osu_iallgather of the OSU micro-benchmarks has it: what a call takes by
 * itself, start and wait; then with computation in between for as long. What
 * the computation doesn't hide is left of the time: overlap is 100 % if the
 * call adds nothing to it, 0 if it adds all of its own time.
 *
 * As there, each rank computes for as long as its own calls have taken, looks
 * at the request count as communication, and figures are means over the ranks.
 * Of the calls of a repetition medians count here, not means.
 */
#ifndef BENCH_COLL_OVERLAP_H
#define BENCH_COLL_OVERLAP_H

#include "step.h"

/** A repetition of a setup, of which one call takes about @p call_ns; the same
 *  on all ranks. Rank 0 gets the figures into the cell. */
int coll_overlap(coll_run_t *run, coll_cell_t *cell, uint64_t call_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single calls after a common start (`--each`), beside the rate of many calls
 * back to back. All ranks agree on a time shortly ahead and make the call then.
 * The time counts from there until the last rank has returned. If a rank comes
 * too late, the call is done again.
 */
#ifndef BENCH_COLL_EACH_H
#define BENCH_COLL_EACH_H

#include "step.h"

/** Do ranks wait for each other's cores? */
bool coll_shares_cores(const crowd_t *crowd);

/** Spins until @p start, yields if ranks share cores. @return 0 or
 *  DRAIL_EINTR. */
int coll_wait_until(const coll_run_t *run, uint64_t start);

/** How far ahead a common start of so many ranks is chosen at first, ns. */
uint64_t coll_first_lead(unsigned ranks);

/** A repetition of a setup, of which one call takes about @p call_ns; the same
 *  on all ranks. Rank 0 gets the median into the cell; @p samples gets all. */
int coll_each(coll_run_t *run, coll_cell_t *cell, uint64_t call_ns,
              hist_t *samples);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular all-to-alls in `railbench prove`: the counts that are played. */
#ifndef BENCH_VERIFY_IRREGULAR_H
#define BENCH_VERIFY_IRREGULAR_H

#include "coll/schedule.h"

/** Bounds for as many elements from each rank to each other, itself included,
 *  as @p bytes takes, at least one. */
dcoll_traffic_t verify_traffic_equal(unsigned ranks, size_t bytes);
/** Counts that reach these bounds, for dcoll_program_t.counts. The caller frees
 *  them. NULL: out of memory. */
uint64_t *verify_counts_equal(unsigned ranks, const dcoll_traffic_t *traffic);
/** Draws counts from @p random, which goes on, and bounds that they are within;
 *  @p text names both. The caller frees the counts. NULL: out of memory. */
uint64_t *verify_counts_draw(unsigned ranks, uint64_t *random,
                             dcoll_traffic_t *traffic, char *text, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all (Liu et al. 2002, section 4) in the frame of the other
 * collectives. A setup is an algorithm, a pattern and an interface.
 */
#ifndef BENCH_IRREGULAR_H
#define BENCH_IRREGULAR_H

#include "bench/coll/step.h"

/** A rank's part of a setup at the present size. */
typedef struct irregular_call {
    const counts_t *counts;
    uint64_t m;
    interface_t interface;
    size_t *send_counts, *recv_counts;
    size_t sent, received; /**< elements */
    size_t came;           /**< not labelled: as the library told */
    dcoll_alltoallv_t labelled_call;
    dcoll_elements_t elements_call;
    dcoll_neighbor_alltoallv_t neighbors_call;
    dcoll_block_t *blocks;    /**< of neighbors_call: sent, then received */
    dcoll_request_t *request; /**< NULL: blocking */
} irregular_call_t;

extern const coll_work_t irregular_work;

/** Where elements say where they go. */
#define IRREGULAR_DESTINATION 0

/** Elements that say where they go, dealt in turn: to each rank, then again. */
void irregular_stamp(const coll_run_t *run, const irregular_call_t *call,
                     uint8_t *send);

int irregular_validate(coll_run_t *run, const coll_cell_t *cell, bool *valid);

/** Seed 003: equations 3 and 4 with the start-ups and the traffic of table 3
 *  (of a4: theorem 2). Of other algorithms, what the cost model says of their
 *  schedules. NaN: there is none. */
double irregular_predict(const coll_result_t *r, const coll_cell_t *cell);

/** What the options ask for: @p patterns, and the plan's bounds. @return 0, or
 *  -1 when one line went to stderr. irregular_patterns_free in either case. */
int irregular_plan(coll_plan_t *plan, counts_t *patterns, options_t *opts,
                   const option_table_t *table);
void irregular_patterns_free(counts_t *patterns);

#endif

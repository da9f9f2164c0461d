/* SPDX-License-Identifier: BSD-3-Clause */
/* A run, and the steps that all of its ranks take together. */
#ifndef BENCH_COLL_STEP_H
#define BENCH_COLL_STEP_H

#include "bed.h"
#include "result.h"
#include "bench/report/progress.h"

/** The ways that setups treat long blocks: one bed for each. */
#define COLL_BEDS 3

/** What a rank knows. All ranks go through the same steps. */
typedef struct coll_run {
    drail_job_t *job;
    unsigned rank, ranks;
    coll_result_t *result; /**< written by rank 0 only */
    const coll_plan_t *plan;
    const options_t *opts;
    coll_bed_t bed[COLL_BEDS]; /**< by zero_copy_t; those in use are open */
    pinning_t pinning;
    dcoll_request_t *requests[COLL_SETUPS_MAX]; /**< of the present size */
    uint64_t iterations[COLL_SETUPS_MAX];       /**< per repetition */
    uint64_t lead_ns; /**< how far ahead a common start is chosen */
    uint64_t start_ns, end_ns;
    progress_t progress;
    const coll_cell_t *cell; /**< being measured, for messages */
} coll_run_t;

/** What a rank tells all others after each step. */
typedef struct coll_card {
    uint64_t now;
    uint64_t ns;
    bool late;   /**< came too late to a common start */
    bool defect; /**< has found wrong data */
    bool enough; /**< rank 0: no more repetitions of this size */
} coll_card_t;

/** Out of band. @p cards: one for each rank. */
int coll_exchange(coll_run_t *run, coll_card_t mine, coll_card_t *cards);

/** One start of the present size's request, until it is complete. */
int coll_perform(coll_run_t *run, unsigned setup);

#endif

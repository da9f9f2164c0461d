/* SPDX-License-Identifier: BSD-3-Clause */
/* A run, and the steps that all of its ranks take together. */
#ifndef BENCH_COLL_STEP_H
#define BENCH_COLL_STEP_H

#include "bed.h"
#include "busy.h"
#include "result.h"
#include "bench/report/progress.h"

/** The ways that setups treat long blocks: one bed for each. */
#define COLL_BEDS 3

struct coll_run;

/** What is measured: calls with equal blocks, or with counts. Functions return
 *  0 or an error. */
typedef struct coll_work {
    /** Before there are ranks: what is known of a cell. May be NULL. */
    void (*describe)(const coll_plan_t *plan, coll_cell_t *cell);
    /** Before a size, once for each setup: fills in run->calls. */
    int (*prepare)(struct coll_run *run, coll_cell_t *cell);
    /** Before one setup follows another. May be NULL. */
    int (*arrange)(struct coll_run *run, unsigned setup);
    /** One call, until it is complete. */
    int (*perform)(struct coll_run *run, unsigned setup);
    /** ... begun only: @p request is to be waited for. NULL: --overlap is not
     *  for this work. */
    int (*begin)(struct coll_run *run, unsigned setup,
                 dcoll_request_t **request);
    /** Several, with fresh contents on ranks that are not in step; every byte
     *  is checked. @p valid: on this rank. */
    int (*validate)(struct coll_run *run, const coll_cell_t *cell, bool *valid);
    /** After a size; no rank is under way. @p failed: the run has, and its
     *  requests are left to their team. */
    int (*release)(struct coll_run *run, unsigned setup, bool failed);
    /** Microseconds; NaN, or no function: no prediction. */
    double (*predict)(const coll_result_t *result, const coll_cell_t *cell);
    bool timed; /**< the library's times are wanted, too */
    /** Its ranks take notifications themselves. A team takes all of them, so
     *  no barrier of a team may come before. */
    bool notifies;
} coll_work_t;

/** Calls with equal blocks. */
extern const coll_work_t coll_blocks;

/** What a rank knows. All ranks go through the same steps. */
typedef struct coll_run {
    drail_job_t *job;
    unsigned rank, ranks;
    coll_result_t *result; /**< written by rank 0 only */
    const coll_work_t *work;
    const coll_plan_t *plan;
    const options_t *opts;
    coll_bed_t bed[COLL_BEDS]; /**< by zero_copy_t; those in use are open */
    pinning_t pinning;
    bool shares_cores;            /**< coll_shares_cores(), asked once */
    void *calls[COLL_SETUPS_MAX]; /**< of the present size: the work's */
    uint64_t iterations[COLL_SETUPS_MAX]; /**< per repetition */
    uint64_t ahead_ns;     /**< clock_ns() less the clock that ranks share */
    uint64_t lead_ns;      /**< how far ahead a common start is chosen */
    uint64_t each_lead_ns; /**< ... that of single calls */
    uint64_t *singles;     /**< times of calls of one repetition */
    unsigned nsingles;
    hist_t *samples; /**< ... of all of the present size, for each setup */
    hist_t *each;    /**< single calls after a common start, the same; NULL:
                          not wanted */
    busy_t busy;     /**< computes, with --overlap */
    uint64_t start_ns;
    sampling_t sampling;
    progress_t progress;
    const coll_cell_t *cell; /**< being measured, for messages */
    void *cards; /**< room for COLL_CARD_BYTES of each rank; ranks of one
                      process share it, which is why it is read at once */
} coll_run_t;

#define COLL_CARD_BYTES (sizeof(drail_key_t) + 16)

/** What a rank tells all others after each step. */
typedef struct coll_card {
    uint64_t now;
    uint64_t ns;
    bool late;   /**< was too late at a common start */
    bool missed; /**< ... for that was past when it came */
    bool defect; /**< has found wrong data */
    bool enough; /**< rank 0: no more repetitions of this size */
} coll_card_t;

/** What all have told. */
typedef struct coll_cards {
    uint64_t now;     /**< the latest */
    uint64_t most_ns; /**< ... and the sum */
    uint64_t sum_ns;
    bool late, missed, defect; /**< any */
    bool enough;               /**< that of rank 0 */
} coll_cards_t;

/** Out of band. */
int coll_exchange(coll_run_t *run, coll_card_t mine, coll_cards_t *all);
/** By the library that is measured, as programs of MPI do: nobody else has to
 *  run for it. Not of ranks that share their process. */
int coll_exchange_inside(coll_run_t *run, dcoll_team_t *team, coll_card_t mine,
                         coll_cards_t *all);
/** Sums over all ranks of COLL_SUMS times. */
#define COLL_SUMS 3
int coll_exchange_sums(coll_run_t *run, uint64_t sums[COLL_SUMS]);

/** The highest of each that any rank has. */
int coll_exchange_tail(coll_run_t *run, coll_tail_t *tail);

/** The bed of a setup. */
coll_bed_t *coll_bed_of(coll_run_t *run, unsigned setup);

#endif

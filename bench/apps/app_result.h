/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurements of an application's runs. Rank 0 writes them to memory that
 * it shares with the process that forked it, which reports. */
#ifndef BENCH_APPS_RESULT_H
#define BENCH_APPS_RESULT_H

#include "app.h"
#include "bench/report/machine.h"
#include "bench/stats/stats.h"

typedef struct app_repeat {
    double slowest_us; /**< the rank that took longest, all of it */
    double compute_us, allgather_us, exchange_us; /**< means over the ranks,
                                                       waiting included */
} app_repeat_t;

/** One setup of the plan. */
typedef struct app_cell {
    app_times_t all; /**< counts of all ranks together, of one run; their
                          longest block */
    bool wrong;      /**< some run's result differed from the solution */
    unsigned count;
    app_repeat_t repeats[STATS_MAX];
} app_cell_t;

typedef struct app_result {
    const app_t *app;
    const bench_test_t *test;
    const options_t *opts;
    const coll_plan_t *plan; /**< of its all-gathers */
    app_solved_t solved;
    machine_t machine;
    notes_t notes;
    bool partial;
    app_cell_t cells[]; /**< plan->count */
} app_result_t;

/** Runs of each algorithm, and of the sequential one; another one before them
 *  warms up. */
unsigned app_repeats(const options_t *opts);

/** Before the ranks are forked. NULL: out of memory. */
app_result_t *app_result_create(const app_t *app, const bench_test_t *test,
                                const coll_plan_t *plan);
void app_result_destroy(app_result_t *result);

/** The time that a single rank takes, in microseconds: simulated, if the
 *  others' is. */
double app_sequential_us(const app_result_t *result);

typedef struct app_figures {
    summary_t us; /**< the slowest rank */
    summary_t compute_us, allgather_us, exchange_us;
    double speedup; /**< over a single rank */
} app_figures_t;

app_figures_t app_figures(const app_result_t *result, unsigned cell);

/** Writes an app_result_t. Errors of writing stay in the FILE.
 *  @return 0. */
int app_report(FILE *file, format_t format, const void *result);

/** Runs all setups. @return exit status. */
int app_run(app_result_t *result);

#endif

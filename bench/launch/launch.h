/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a test, and what the user is told when they fail. */
#ifndef BENCH_LAUNCH_H
#define BENCH_LAUNCH_H

#include "bench/options/options.h"
#include "outcome.h"

/** Finds out how this process was started, of tests with rails, and settles
 *  the number of ranks. @return 0, or exit status after a line on stderr;
 *  launch_close in either case. */
int launch_open(options_t *opts, const option_table_t *table);
void launch_close(options_t *opts);

/** What depends on how this process was started, of options that were read
 *  again after launch_open. */
void launch_settle(options_t *opts, const option_table_t *table);

/** Runs @p rank_main in ranks that need not have the same options yet.
 *  @return exit status 0 or 1, after a line on stderr. */
int launch_exchange(const char *command, const options_t *opts,
                    drail_rank_main_t rank_main, void *arg);

/** Runs @p rank_main in opts->ranks processes; a failure is one line on
 *  stderr, of the rank that knows why or else of rank 0. @return exit status:
 * 0, 1, or 2 when a rail can't be opened. */
int launch_job(const char *command, const options_t *opts, outcome_t *outcome,
               drail_rank_main_t rank_main, void *arg);
/** The same with an outcome of its own, in *outcome while the ranks run. */
int launch_alone(const char *command, const options_t *opts,
                 outcome_t **outcome, drail_rank_main_t rank_main, void *arg);

#endif

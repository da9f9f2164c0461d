/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a test, and what the user is told when they fail. */
#ifndef BENCH_LAUNCH_H
#define BENCH_LAUNCH_H

#include "bench/options/options.h"
#include "outcome.h"

/** Runs @p rank_main in opts->ranks processes; a failure is one line on
 *  stderr. @return exit status: 0, 1, or 2 when a rail can't be opened. */
int launch_job(const char *command, const options_t *opts, outcome_t *outcome,
               drail_rank_main_t rank_main, void *arg);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* How rank 0 makes rank 1 take part: a command, a loop, a reply. */
#ifndef BENCH_COMMAND_H
#define BENCH_COMMAND_H

#include "content.h"
#include "bench/test.h"

/** What both ranks know of a run. */
typedef struct command_table {
    const bench_test_t *test;
    const plan_t *plan;
} command_table_t;

/** Rank 0: one run of a loop in a setup by both ranks. @p peer_cpu_ns gets the
 *  CPU time of rank 1. */
int command_run(const command_table_t *table, unsigned setup, unsigned loop,
                loop_run_t *run, uint64_t *peer_cpu_ns);

/** Rank 0: one iteration with contents of @p seed that are checked at every
 *  target. @p defect is the first difference found. */
int command_check(const command_table_t *table, unsigned setup, unsigned loop,
                  loop_run_t *run, uint64_t seed, defect_t *defect);

/** Rank 0: rank 1 may leave. */
int command_quit(session_t *session);

/** Rank 1: serves commands until it may leave. */
int command_follow(const command_table_t *table, session_t *session);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests of railbench: one per file test_*.c, listed in main.c. */
#ifndef BENCH_TEST_H
#define BENCH_TEST_H

#include "bench/pair/loop.h"
#include "bench/options/options.h"

#define TEST_LOOPS 2

/** What limits the figure that a test is about. */
typedef enum bound { BOUND_NONE, BOUND_BANDWIDTH, BOUND_LATENCY } bound_t;

typedef struct bench_test {
    option_table_t table;
    const char *name;
    const char *alias;  /**< another name, NULL: none */
    const char *sizes;  /**< default of --sizes */
    double time_budget; /**< default of --time-budget, 0: the common one */
    void (*defaults)(options_t *opts); /**< other ones than the common, NULL:
                                            none */
    /** Runs the test. @return exit status 0, 1 or 2. */
    int (*run)(const struct bench_test *test, const options_t *opts);
    /** Instead of run: becomes another program, with these arguments, which
     *  reads its options itself. @return exit status, if it can't. */
    int (*become)(int argc, char **argv);
    const loop_t *loops[TEST_LOOPS]; /**< the first gives the bandwidth */
    unsigned nloops;
    bound_t bound;
    dcoll_collective_t collective; /**< of the tests of one collective */
    bool breakdown; /**< splits the time of each batch (breakdown.h), and
                         stripes messages of any length by default */
} bench_test_t;

extern const bench_test_t test_bw, test_bibw, test_lat, test_breakdown,
    test_limits, test_diff, test_gather, test_allgather, test_alltoall,
    test_alltoallv, test_bcast, test_scatter, test_barrier, test_reduce,
    test_allreduce, test_verify, test_tune, test_check, test_degrade, test_mbw,
    test_rate, test_nbody, test_radix, test_suite, test_get, test_send,
    test_atomic, test_dsm, test_memcpy, test_reduce_scatter_block, test_scan,
    test_exscan, test_goal;

/** Options of the tests between two ranks: two of the ping-pong, two of all,
 *  three of those that have batches. */
enum {
    PAIR_CONSUME,
    PAIR_PINGPONG,
    PAIR_OP,
    PAIR_BATCH,
    PAIR_WINDOW,
    PAIR_BUFFERS,
    PAIR_READ,
    PAIR_OPTION_ROWS
};
extern const option_row_t pair_options[PAIR_OPTION_ROWS];

/** Runs a test between two ranks. */
int pair_run(const bench_test_t *test, const options_t *opts);

#endif

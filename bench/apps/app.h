/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the applications N-BODY and RADIX (Qian and Afsahi 2008, 7.4.1 and
 * table 1): all-gathers, messages between two ranks, and a check of each rank's
 * result against a sequential run.
 */
#ifndef BENCH_APPS_APP_H
#define BENCH_APPS_APP_H

#include "bench/stats/stats.h"
#include "bench/test.h"
#include "comm.h"

/** A problem with its solution, before the ranks are forked. */
typedef struct app_solved {
    void *problem;
    double operations; /**< that the sequential run takes, as app_compute
                            counts them */
    summary_t us;      /**< ... and its time */
} app_solved_t;

typedef struct app_check {
    uint64_t count, sum; /**< of what is here, and of their names: all ranks'
                              must give those of the problem */
    uint64_t wrong;      /**< differ from the solution */
} app_check_t;

typedef struct app {
    /** Blocks of its all-gathers, which algorithms must serve; in bytes.
     *  @return how many there are, at most SIZES_MAX. */
    unsigned (*blocks)(const options_t *opts, uint64_t *sizes);
    /** Draws the problem, with the room that its solution takes. NULL: no
     *  memory. */
    void *(*draw)(const options_t *opts);
    /** Before each solve. */
    void (*reset)(void *problem);
    /** Solves it sequentially; this is timed. @return its operations. */
    double (*solve)(void *problem);
    void (*discard)(void *problem); /**< accepts NULL */
    /** This rank's part of a run; NULL: no memory. */
    void *(*begin)(const void *problem, unsigned rank, unsigned ranks);
    int (*run)(void *part, app_comm_t *comm); /**< this is timed */
    void (*check)(const void *part, app_check_t *check);
    void (*total)(const void *problem, app_check_t *check); /**< of all */
    void (*end)(void *part);                                /**< accepts NULL */
    /** The problem in a line. */
    void (*describe)(const options_t *opts, char *text, size_t size);
} app_t;

/** A whole test, with its reports. @return exit status. */
int app_test(const app_t *app, const bench_test_t *test, const options_t *opts);

/** Operations per second of a simulated rank, if nobody says others. */
#define APP_RATE 5e8

/** Rows of the tables of options that all applications have. */
#define APP_OPTION_ROWS                                                        \
    {"--repeat",                                                               \
     "R",                                                                      \
     "runs of each algorithm (default 6; simulated 1)",                        \
     .parse = option_parse_count,                                              \
     .field = offsetof(options_t, repeat),                                     \
     .min = 1,                                                                 \
     .max = STATS_MAX},                                                        \
        {"--draw",                                                             \
         "N",                                                                  \
         "seed of the random problem (default 1)",                             \
         .parse = option_parse_count,                                          \
         .field = offsetof(options_t, apps.draw),                              \
         .min = 0,                                                             \
         .max = UINT32_MAX},                                                   \
    {                                                                          \
        "--rate", "OPS",                                                       \
            "simulated: operations that a rank computes per second "           \
            "(default 500000000)",                                             \
            .parse = option_parse_number,                                      \
            .field = offsetof(options_t, apps.rate), .min = 1, .max = 1e15     \
    }

/** Uniform in [0, 1); advances the seed. */
double app_uniform(uint64_t *seed);
/** 64 random bits. */
uint64_t app_random(uint64_t *seed);

#endif

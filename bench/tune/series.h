/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many measurements of collectives in one command, which share its time: tune,
 * guidelines.
 */
#ifndef BENCH_COLL_SERIES_H
#define BENCH_COLL_SERIES_H

#include "bench/coll/result.h"

/** One of them. All of it must stay where it is until the series ends. */
typedef struct coll_item {
    options_t opts; /**< with this item's sizes, shape and time */
    coll_plan_t plan;
    coll_result_t *result;
} coll_item_t;

/** All items of a command, and the time that they share. */
typedef struct coll_series {
    const options_t *opts;
    unsigned index, count;
    uint64_t end_ns;
} coll_series_t;

/** The time starts, for @p count items. */
void coll_series_begin(coll_series_t *series, const options_t *opts,
                       unsigned count);
/** Options of the next item and an empty plan; a barrier has one size. What
 *  earlier items left of their time is shared by the others. */
void coll_item_init(coll_item_t *item, coll_series_t *series,
                    dcoll_collective_t collective, struct shape shape);
/** Sizes that have been measured: fewer than there are if it has failed, or if
 *  the time was over, which is to be told. */
unsigned coll_item_sizes(const coll_item_t *item);
/** Measures what the plan has. @return exit status; a failure is one line on
 *  stderr. */
int coll_item_run(coll_item_t *item, const bench_test_t *test);
void coll_series_warn(const bench_test_t *test, const options_t *opts);
void coll_item_free(coll_item_t *item);

/** The shapes and collectives that the options name. */
unsigned coll_shapes(const options_t *opts, struct shape shapes[SHAPES_MAX]);
unsigned coll_collectives(const options_t *opts,
                          dcoll_collective_t list[DCOLL_COLLECTIVES]);

/** The way over the rails that the options name, of their engine @p i. */
setup_t coll_rails(const options_t *opts, unsigned i);
/** Only one such way: one policy, one team, at most @p engines engines; all
 *  sizes of whole elements; and memory for all that is to be measured. @return
 * 0, or -1 when one line went to stderr. */
int coll_series_check(const bench_test_t *test, const options_t *opts,
                      unsigned engines);

#define COLL_RAILS_ONE                                                         \
    (setup_t)                                                                  \
    {                                                                          \
        .engine = DRAIL_ENGINE_SINGLE, .policy = DRAIL_POLICY_FIXED            \
    }

#endif

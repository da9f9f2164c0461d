/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies that the ranks of a node make at once, each of its own block, as
 * k-memcpy() of Qian and Afsahi 2008, figure 2. They are the transport's and
 * the collectives' copies, so that simulated ranks share a node's memory.
 */
#include <stdio.h>

#include "run.h"
#include "bench/test.h"

static void describe(const coll_plan_t *plan, coll_cell_t *cell)
{
    cell->received = plan->shape.nranks * cell->bytes;
    cell->bus = 0;
}

static int prepare(coll_run_t *run, coll_cell_t *cell)
{
    run->calls[cell->setup] = cell;
    cell->algorithm = run->plan->setups[cell->setup].algorithm;
    return 0;
}

static int release(coll_run_t *run, unsigned setup, bool failed)
{
    (void)run, (void)setup, (void)failed;
    return 0;
}

static int perform(coll_run_t *run, unsigned setup)
{
    const coll_cell_t *cell = run->calls[setup];
    const coll_bed_t *bed = coll_bed_of(run, setup);
    platform_copy(bed->platform, bed->recv + run->rank * cell->bytes, bed->send,
                  cell->bytes);
    return 0;
}

static const coll_work_t copies = {.describe = describe,
                                   .prepare = prepare,
                                   .perform = perform,
                                   .release = release};

static int run(const bench_test_t *test, const options_t *opts)
{
    coll_plan_t plan = {0};
    if (opts->validate) {
        option_wrong(&test->table, "--validate", test->name,
                     "tests of collectives");
        return 2;
    }
    coll_plan_shape(&plan, opts);
    return coll_test(test, opts, &plan, &copies);
}

static void defaults(options_t *opts)
{
    options_one_engine(opts);
    opts->nalgorithms = 1;
    snprintf(opts->algorithms[0], sizeof opts->algorithms[0], "direct");
}

const bench_test_t test_memcpy = {
    .table = {.command = "railbench memcpy",
              .summary = "Copies of memory that the ranks of a node make at "
                         "once.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_SHAPE |
                        OPTIONS_STATS | OPTIONS_HOLLOW},
    .name = "memcpy",
    .sizes = "4:256K",
    .defaults = defaults,
    .run = run,
    .collective = DCOLL_ALLGATHER,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `railbench tune` makes the table that `auto` selects by. It measures every
 * algorithm that serves a shape, with and without zero copy, by each engine of
 * --engine, interleaved. The fastest one of each size and engine goes in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "series.h"
#include "bench/report/output.h"
#include "bench/report/report.h"

#define FEW 6 /* too few repeats for an interval of 95 % */

typedef struct tuning {
    const bench_test_t *test;
    const options_t *opts;
    machine_t machine;
    dcoll_table_t table;
    bool partial;   /**< it has failed, or its time was over */
    unsigned least; /**< repeats of a row */
} tuning_t;

static void add_candidate(coll_plan_t *plan, const dcoll_algorithm_t *algorithm,
                          zero_copy_t way)
{
    for (unsigned i = 0; i < plan->opts->nengines; i++) {
        const setup_t rails = coll_rails(plan->opts, i);
        coll_plan_add(plan, algorithm, way, &rails);
    }
}

/* Both ways where they can differ: copies or none of nothing are the same. */
static void add_candidates(coll_plan_t *plan)
{
    static const zero_copy_t ways[] = {ZERO_COPY_OFF, ZERO_COPY_ON};
    unsigned count = plan->collective == DCOLL_BARRIER ? 1 : 2;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned i = 0; (*a)->collective == plan->collective && i < count;
             i++)
            if (!coll_plan_refusal(plan, *a, ways[i]))
                add_candidate(plan, *a, ways[i]);
}

/* The fastest of the cells of one size that are an engine's. */
static int add_row(tuning_t *tuning, const coll_plan_t *plan,
                   const coll_cell_t *cells, drail_engine_t engine)
{
    dcoll_table_t *table = &tuning->table;
    const coll_cell_t *best = NULL;
    summary_t least = {0};
    for (unsigned s = 0; s < plan->count; s++) {
        summary_t us = coll_latency(plan->opts, &cells[s]);
        if (plan->setups[s].rail.engine != engine ||
            (best && us.median >= least.median))
            continue;
        best = &cells[s];
        least = us;
    }
    dcoll_table_row_t *rows =
        realloc(table->rows, (table->count + 1) * sizeof *rows);
    if (!rows || !best)
        return -1;
    table->rows = rows;
    if (least.n < tuning->least)
        tuning->least = least.n;
    rows[table->count++] = (dcoll_table_row_t){
        .collective = plan->collective,
        .ranks = plan->shape.nranks,
        .ppn = dcoll_shape_ppn(&plan->shape),
        .ports = plan->shape.ports,
        .engine = engine,
        .bytes = best->bytes,
        .algorithm = best->algorithm,
        .zero_copy = best->args.zero_copy,
        .us = least.median,
        .lo = least.lo,
        .hi = least.hi,
    };
    return 0;
}

static int tune_one(tuning_t *tuning, coll_item_t *item)
{
    add_candidates(&item->plan);
    if (!item->plan.count)
        return 0;
    int status = coll_item_run(item, tuning->test);
    const unsigned engines = item->opts.nengines;
    int full = 0; /* sizes that are measured go in, also if it is interrupted */
    for (unsigned i = 0; !full && i < coll_item_sizes(item) * engines; i++)
        full = add_row(tuning, &item->plan,
                       &item->result->cells[i / engines * item->plan.count],
                       item->opts.engines[i % engines]);
    tuning->partial |= coll_item_sizes(item) < item->opts.nsizes;
    return full ? 1 : status;
}

static int tune_all(tuning_t *tuning)
{
    struct shape shapes[SHAPES_MAX];
    dcoll_collective_t list[DCOLL_COLLECTIVES];
    unsigned nshapes = coll_shapes(tuning->opts, shapes);
    unsigned count = coll_collectives(tuning->opts, list);
    coll_series_t series;
    int status = 0;
    coll_series_begin(&series, tuning->opts, nshapes * count);
    for (unsigned i = 0; !status && i < nshapes * count; i++) {
        coll_item_t *item = calloc(1, sizeof *item);
        if (!item)
            return 1;
        coll_item_init(item, &series, list[i % count], shapes[i / count]);
        status = tune_one(tuning, item);
        coll_item_free(item);
        free(item);
    }
    return status;
}

static int write_table(FILE *file, format_t format, const void *result)
{
    const tuning_t *tuning = result;
    const machine_t *m = &tuning->machine;
    char environment[1024], rails[DCOLL_TABLE_RAILS];
    bool hurried = !tuning->opts->repeat && !tuning->opts->simulated &&
                   tuning->least < FEW;
    (void)format;
    snprintf(environment, sizeof environment,
             "# railbench tune (%s), %s: %s, %s, %s\n"
             "# policy %s%s%s\n%s%s"
             "# one block, microseconds of the slowest rank: median, %s\n",
             m->revision, m->host, m->kernel, m->libc, m->date,
             drail_policy_name(tuning->opts->policies[0]),
             tuning->opts->paced ? ", paced" : "",
             tuning->opts->no_payload ? ", without payload" : "",
             tuning->partial ? "# partial: not all was measured\n" : "",
             hurried ? "# the time allowed few repeats of some rows: theirs "
                       "is a range\n"
                     : "",
             report_spread(tuning->opts));
    coll_table_rails(tuning->opts, rails);
    dcoll_table_write(file, &tuning->table, rails, environment);
    return 0;
}

static int tune_run(const bench_test_t *test, const options_t *opts)
{
    tuning_t tuning = {.test = test, .opts = opts, .least = FEW};
    outputs_t outputs = {0};
    int status = 2;
    if (opts->format != FORMAT_TABLE) {
        option_wrong(&test->table, "--format",
                     opts->format == FORMAT_CSV ? "csv" : "json",
                     "table: what --selection reads");
        return 2;
    }
    if (coll_series_check(test, opts, opts->nengines) ||
        outputs_open(&outputs, opts, test->table.command))
        goto out;
    machine_describe(&tuning.machine, opts->simulated);
    status = tune_all(&tuning);
    if (!status && tuning.partial && !opts->follows)
        coll_series_warn(test, opts);
    if (status != 2 && tuning.table.count &&
        outputs_report(&outputs, write_table, &tuning))
        status = 1;
out:
    outputs_discard(&outputs);
    dcoll_table_free(&tuning.table);
    return status;
}

/* Sizes begin with 4 bytes. */
static void tune_defaults(options_t *opts)
{
    opts->type = DCOLL_FLOAT;
}

const bench_test_t test_tune = {
    .table = {.command = "railbench tune",
              .summary = "Measures which algorithm is fastest for each "
                         "collective, shape and size; --output FILE is what "
                         "--selection reads.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_SHAPE |
                        OPTIONS_COLLECTIVE | OPTIONS_SHAPES | OPTIONS_TEAM |
                        OPTIONS_HOLLOW | OPTIONS_REDUCE},
    .name = "tune",
    .sizes = "4,32,256,1K,4K,16K,64K,256K",
    .time_budget = 120,
    .defaults = tune_defaults,
    .run = tune_run,
};

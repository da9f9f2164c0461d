/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "bench/clock.h"
#include "bench/coll/run.h"
#include "series.h"

void coll_series_begin(coll_series_t *series, const options_t *opts,
                       unsigned count)
{
    *series = (coll_series_t){.opts = opts, .count = count};
    series->end_ns = clock_ns() + (uint64_t)(opts->time_budget * 1e9);
}

static double seconds_left(const coll_series_t *series)
{
    uint64_t now = clock_ns();
    return now < series->end_ns ? (double)(series->end_ns - now) / 1e9 : 0;
}

void coll_item_init(coll_item_t *item, coll_series_t *series,
                    dcoll_collective_t collective, struct shape shape)
{
    const options_t *opts = series->opts;
    item->opts = *opts;
    item->opts.series = (struct series_options){
        series->index, series->count, opts->time_budget / series->count,
        opts->repeat || opts->simulated ? UINT64_MAX : series->end_ns};
    item->opts.time_budget =
        seconds_left(series) / (series->count - series->index);
    series->index++;
    item->opts.ranks = shape.ranks;
    item->opts.ppn = shape.ppn;
    item->opts.by_host = opts->by_host && !opts->nshapes;
    if (collective == DCOLL_BARRIER) {
        item->opts.nsizes = 1;
        item->opts.sizes[0] = 0;
    }
    item->plan = (coll_plan_t){.collective = collective};
    item->result = NULL;
    coll_plan_shape(&item->plan, &item->opts);
}

int coll_item_run(coll_item_t *item, const bench_test_t *test)
{
    item->result = coll_result_create(test, &item->plan);
    if (!item->result) {
        fprintf(stderr, "%s: out of memory\n", test->table.command);
        return 1;
    }
    int status = coll_run(item->result, &coll_blocks);
    return coll_all_valid(item->result) ? status : 1;
}

void coll_series_warn(const bench_test_t *test, const options_t *opts)
{
    fprintf(stderr,
            "%s: warning: --time-budget: %g s are over, and not all sizes are "
            "measured\n",
            test->table.command, opts->time_budget);
}

unsigned coll_item_sizes(const coll_item_t *item)
{
    return item->result ? item->result->complete : 0;
}

void coll_item_free(coll_item_t *item)
{
    coll_result_destroy(item->result);
    coll_plan_free(&item->plan);
}

setup_t coll_rails(const options_t *opts, unsigned i)
{
    if (opts->engines[i] == DRAIL_ENGINE_SINGLE)
        return COLL_RAILS_ONE;
    return (setup_t){.engine = opts->engines[i],
                     .team = opts->teams[0],
                     .policy = opts->policies[0]};
}

unsigned coll_shapes(const options_t *opts, struct shape shapes[SHAPES_MAX])
{
    for (unsigned i = 0; i < opts->nshapes; i++) {
        shapes[i] = opts->shapes[i];
        if (opts->simulated && !shapes[i].ppn)
            shapes[i].ppn = opts->ppn;
    }
    if (opts->nshapes)
        return opts->nshapes;
    shapes[0] = (struct shape){opts->ranks, opts->ppn};
    return 1;
}

unsigned coll_collectives(const options_t *opts,
                          dcoll_collective_t list[DCOLL_COLLECTIVES])
{
    unsigned count =
        opts->ncollectives ? opts->ncollectives : DCOLL_COLLECTIVES;
    for (unsigned i = 0; i < count; i++)
        list[i] =
            opts->ncollectives ? opts->collectives[i] : (dcoll_collective_t)i;
    return count;
}

/* Is any of the collectives a reduction? */
static bool any_reduces(const options_t *opts)
{
    dcoll_collective_t list[DCOLL_COLLECTIVES];
    const unsigned count = coll_collectives(opts, list);
    bool found = false;
    for (unsigned i = 0; i < count; i++)
        found |= dcoll_collective_reduces(list[i]);
    return found;
}

/* Elements and memory of all that is to be measured: nothing is, if some does
 * not fit. */
static int check_items(const bench_test_t *test, const options_t *opts)
{
    struct shape shapes[SHAPES_MAX];
    dcoll_collective_t list[DCOLL_COLLECTIVES];
    unsigned count = coll_collectives(opts, list);
    unsigned all = coll_shapes(opts, shapes) * count;
    int rc = 0;
    coll_item_t *item = malloc(sizeof *item);
    coll_series_t series;
    coll_series_begin(&series, opts, all);
    for (unsigned i = 0; item && !rc && i < all; i++) {
        coll_item_init(item, &series, list[i % count], shapes[i / count]);
        rc = coll_plan_check_elements(&item->plan, &test->table);
        if (!rc)
            rc = coll_plan_fits(&item->plan, &test->table);
    }
    free(item);
    return rc;
}

static int check_rails(const bench_test_t *test, const options_t *opts,
                       unsigned engines)
{
    const struct {
        unsigned given, most;
        const char *option, *next;
    } rules[] = {
        {opts->nengines, engines, "--engine",
         drail_engine_name(opts->engines[1])},
        {opts->nteams, 1, "--team", drail_team_name(opts->teams[1])},
        {opts->npolicies, 1, "--policy", drail_policy_name(opts->policies[1])}};
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].given > rules[i].most) {
            option_wrong(&test->table, rules[i].option, rules[i].next,
                         "one, and this is the second");
            return -1;
        }
    return 0;
}

/* --type and --op are for reductions. */
static int check_reduces(const bench_test_t *test, const options_t *opts)
{
    const char *options[] = {"--type", "--op"};
    const char *values[] = {options_type(opts), options_operator(opts)};
    if (any_reduces(opts))
        return 0;
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        if (option_given(opts, options[i])) {
            option_wrong(&test->table, options[i], values[i],
                         "with a --collective that reduces");
            return -1;
        }
    return 0;
}

int coll_series_check(const bench_test_t *test, const options_t *opts,
                      unsigned engines)
{
    return check_rails(test, opts, engines) || check_reduces(test, opts) ||
                   check_items(test, opts)
               ? -1
               : 0;
}

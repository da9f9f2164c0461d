/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test of an application, from the checked options to the report, in the
 * form of table 1 of Qian and Afsahi 2008.
 */
#include <stdio.h>
#include <string.h>

#include "app_result.h"
#include "bench/clock.h"
#include "bench/interrupt.h"
#include "bench/report/output.h"
#include "bench/report/progress.h"

static int report(app_result_t *r, outputs_t *outputs, int status)
{
    const char *command = r->test->table.command;
    unsigned wrong = 0;
    if (r->opts->follows || (status && !r->cells[0].count))
        return status;
    if (outputs_report(outputs, app_report, r))
        return 1;
    for (unsigned i = 0; i < r->plan->count; i++)
        wrong += r->cells[i].wrong;
    if (!wrong)
        return status;
    fprintf(stderr,
            "%s: %u of %u cases differ from what one rank computes alone\n",
            command, wrong, r->plan->count);
    return 1;
}

/* Beyond what its options say: each rank has something. */
static int check_ranks(const option_table_t *table, const options_t *opts)
{
    uint64_t items = opts->apps.bodies ? opts->apps.bodies : opts->apps.keys;
    char value[24], allowed[64];
    if (items >= opts->ranks)
        return 0;
    snprintf(value, sizeof value, "%llu", (unsigned long long)items);
    snprintf(allowed, sizeof allowed, "at least one for each of %llu ranks",
             (unsigned long long)opts->ranks);
    option_wrong(table, opts->apps.bodies ? "--bodies" : "--keys", value,
                 allowed);
    return -1;
}

/* Only simulated ranks take a rate. */
static int settle_rate(const option_table_t *table, options_t *opts)
{
    char value[24];
    if (opts->apps.rate > 0 && !opts->simulated) {
        snprintf(value, sizeof value, "%g", opts->apps.rate);
        option_wrong(table, "--rate", value, "only with --rails sim:NAME");
        return -1;
    }
    if (!(opts->apps.rate > 0))
        opts->apps.rate = APP_RATE;
    return 0;
}

/* Computes the result that the ranks must find. */
static int solve(const app_t *app, const options_t *opts, app_solved_t *solved)
{
    solved->problem = app->draw(opts);
    if (!solved->problem)
        return DRAIL_ENOMEM;
    app->reset(solved->problem);
    solved->operations = app->solve(solved->problem);
    return 0;
}

/* Runs one rank alone, as often as the others, after they have ended. In a
 * simulation, operations are counted instead. */
static void time_alone(const app_t *app, const options_t *opts, bool failed,
                       app_solved_t *solved)
{
    double us[STATS_MAX] = {0};
    bool none = failed || opts->simulated || opts->follows;
    unsigned repeats = none ? 0 : app_repeats(opts), i;
    progress_t progress;
    progress_init(&progress);
    interrupt_catch(); /* the ranks' measurements are kept */
    for (i = 0; i < repeats && !interrupt_came(); i++) {
        progress_show(&progress, "one rank alone: run %u of %u", i + 1,
                      repeats);
        app->reset(solved->problem);
        uint64_t from = clock_ns();
        app->solve(solved->problem);
        us[i] = (double)(clock_ns() - from) / 1e3;
    }
    progress_clear(&progress);
    solved->us = stats_summary(us, i);
}

int app_test(const app_t *app, const bench_test_t *test, const options_t *given)
{
    options_t opts = *given;
    coll_plan_t plan = {0};
    notes_t notes = {0};
    outputs_t outputs = {0};
    app_result_t *r = NULL;
    int status = 2;
    opts.nsizes = app->blocks(&opts, opts.sizes);
    if (check_ranks(&test->table, &opts) || settle_rate(&test->table, &opts) ||
        coll_plan_make(&plan, &opts, &test->table, DCOLL_ALLGATHER, &notes) ||
        outputs_open(&outputs, &opts, test->table.command))
        goto out;
    status = 1;
    r = app_result_create(app, test, &plan);
    if (!r || solve(app, &opts, &r->solved)) {
        fprintf(stderr, "%s: out of memory\n", test->table.command);
        goto out;
    }
    r->notes = notes;
    status = app_run(r);
    r->partial |= status != 0; /* one rank alone is missing, at least */
    time_alone(app, &opts, status != 0, &r->solved);
    if (interrupt_came()) {
        r->partial = true;
        fprintf(stderr, "%s: interrupted; the result is partial\n",
                test->table.command);
        status = 1;
    }
    if (status != 2)
        status = report(r, &outputs, status);
out:
    app_result_destroy(r);
    outputs_discard(&outputs);
    coll_plan_free(&plan);
    return status;
}

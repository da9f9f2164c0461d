/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "app_result.h"
#include "bench/launch/shared.h"

#define REPEATS           6 /* the least that have an interval */
#define REPEATS_SIMULATED 1

unsigned app_repeats(const options_t *opts)
{
    return opts->repeat      ? (unsigned)opts->repeat
           : opts->simulated ? REPEATS_SIMULATED
                             : REPEATS;
}

static size_t result_size(const coll_plan_t *plan)
{
    return sizeof(app_result_t) + plan->count * sizeof(app_cell_t);
}

app_result_t *app_result_create(const app_t *app, const bench_test_t *test,
                                const coll_plan_t *plan)
{
    app_result_t *r = shared_alloc(result_size(plan));
    if (!r)
        return NULL;
    r->app = app;
    r->test = test;
    r->opts = plan->opts;
    r->plan = plan;
    r->partial = true; /* until all is there */
    machine_describe(&r->machine, plan->opts->simulated);
    return r;
}

void app_result_destroy(app_result_t *r)
{
    if (!r)
        return;
    r->app->discard(r->solved.problem);
    munmap(r, result_size(r->plan));
}

double app_sequential_us(const app_result_t *r)
{
    return r->opts->simulated ? r->solved.operations / r->opts->apps.rate * 1e6
                              : r->solved.us.median;
}

/* Of the member of app_repeat_t at this offset. */
static summary_t summary(const app_result_t *r, unsigned cell, size_t member)
{
    double values[STATS_MAX];
    const app_cell_t *c = &r->cells[cell];
    for (unsigned i = 0; i < c->count; i++)
        values[i] = *(const double *)((const char *)&c->repeats[i] + member);
    summary_t s = stats_summary(values, c->count);
    return r->opts->simulated ? stats_certain(s) : s;
}

app_figures_t app_figures(const app_result_t *r, unsigned cell)
{
    app_figures_t f = {
        .us = summary(r, cell, offsetof(app_repeat_t, slowest_us)),
        .compute_us = summary(r, cell, offsetof(app_repeat_t, compute_us)),
        .allgather_us = summary(r, cell, offsetof(app_repeat_t, allgather_us)),
        .exchange_us = summary(r, cell, offsetof(app_repeat_t, exchange_us)),
    };
    f.speedup = app_sequential_us(r) / f.us.median;
    return f;
}

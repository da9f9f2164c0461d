/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result.h"
#include "bench/launch/shared.h"

static size_t result_size(const coll_plan_t *plan)
{
    return sizeof(coll_result_t) +
           (size_t)plan->opts->nsizes * plan->count * sizeof(coll_cell_t) +
           (size_t)plan->shape.nranks * sizeof(pinning_t);
}

pinning_t *coll_pinning(const coll_result_t *r)
{
    return (pinning_t *)&r->cells[r->ncells];
}

static size_t each_size(const coll_result_t *r)
{
    return r->ncells * sizeof *r->each;
}

hist_t *coll_each_of(const coll_result_t *r, const coll_cell_t *cell)
{
    return r->each ? &r->each[cell - r->cells] : NULL;
}

const coll_setup_t *coll_setup_of(const coll_result_t *r,
                                  const coll_cell_t *cell)
{
    return &r->plan->setups[cell->setup];
}

unsigned coll_ports_of(const coll_result_t *r, const coll_cell_t *cell)
{
    const setup_t *rail = &coll_setup_of(r, cell)->rail;
    return setup_one_rail(rail) ? 1 : r->plan->shape.ports;
}

coll_result_t *coll_result_create(const bench_test_t *test,
                                  const coll_plan_t *plan)
{
    coll_result_t *r = shared_alloc(result_size(plan));
    if (!r)
        return NULL;
    r->test = test;
    r->opts = plan->opts;
    r->plan = plan;
    r->partial = true; /* until all is there */
    r->ncells = plan->opts->nsizes * plan->count;
    r->each = plan->opts->each ? shared_alloc(each_size(r)) : NULL;
    if (plan->opts->each && !r->each) {
        coll_result_destroy(r);
        return NULL;
    }
    for (unsigned i = 0; i < r->ncells; i++) {
        coll_cell_t *cell = &r->cells[i];
        cell->bytes = plan->opts->sizes[i / plan->count];
        cell->setup = i % plan->count;
        cell->received = coll_received(plan, cell->bytes);
        cell->bus = coll_bus_bytes(plan, cell->bytes);
        cell->model_us = NAN;
        cell->algorithm = coll_plan_args(plan, &plan->setups[cell->setup],
                                         cell->bytes, &cell->args);
    }
    machine_describe(&r->machine, plan->opts->simulated);
    return r;
}

void coll_result_destroy(coll_result_t *r)
{
    if (r && r->each)
        munmap(r->each, each_size(r));
    if (r)
        munmap(r, result_size(r->plan));
}

static double max_us(const coll_repeat_t *repeat)
{
    return (double)repeat->max_ns / 1e3 / (double)repeat->iterations;
}

summary_t coll_latency(const options_t *opts, const coll_cell_t *cell)
{
    const sampling_t rule = options_sampling(opts);
    double values[COLL_REPEATS_MAX];
    for (unsigned i = 0; i < cell->count; i++)
        values[i] = max_us(&cell->repeats[i]);
    summary_t us = sampling_summary(&rule, values, cell->count);
    return rule.certain ? stats_range(us) : us;
}

void coll_overlap_add(coll_overlap_t *overlap, double pure, double compute,
                      double total)
{
    unsigned i = overlap->count++;
    double part = pure > 0 ? 1 - (total - compute) / pure : 0;
    overlap->values[OVERLAP_PURE][i] = pure;
    overlap->values[OVERLAP_COMPUTE][i] = compute;
    overlap->values[OVERLAP_TOTAL][i] = total;
    overlap->values[OVERLAP_PERCENT][i] = part > 0 ? 100 * part : 0;
}

static double single_us(uint64_t ns)
{
    return ns ? (double)ns / 1e3 : NAN;
}

coll_figures_t coll_figures(const options_t *opts, const coll_cell_t *cell)
{
    const sampling_t rule = options_sampling(opts);
    double us[COLL_REPEATS_MAX], avg[COLL_REPEATS_MAX], rate[COLL_REPEATS_MAX];
    double each[COLL_REPEATS_MAX];
    double received = (double)cell->received;
    unsigned n = cell->count;
    for (unsigned i = 0; i < n; i++) {
        const coll_repeat_t *repeat = &cell->repeats[i];
        us[i] = max_us(repeat);
        avg[i] = (double)repeat->avg_ns / 1e3 / (double)repeat->iterations;
        rate[i] = received / us[i];
    }
    memcpy(each, cell->each.us, sizeof each);
    coll_figures_t f = {
        .us = sampling_summary(&rule, us, n), /* sorts */
        .avg_us = sampling_summary(&rule, avg, n),
        .MBps = sampling_summary(&rule, rate, received > 0 ? n : 0),
        .busbw_MBps = NAN,
        .rate_Mmsgs = NAN,
        .p50 = single_us(cell->tail.p50),
        .p99 = single_us(cell->tail.p99),
        .p999 = single_us(cell->tail.p999),
        .max = single_us(cell->tail.max),
        .each_us = sampling_summary(&rule, each, cell->each.count),
        .each_p99 = single_us(cell->each.p99),
        .iterations = n ? cell->repeats[0].iterations : 0,
    };
    for (unsigned i = 0; i < OVERLAP_FIGURES; i++) {
        double values[COLL_REPEATS_MAX];
        memcpy(values, cell->overlap.values[i], sizeof values);
        f.overlap[i] = sampling_summary(&rule, values, cell->overlap.count);
    }
    if (n && cell->bus > 0)
        f.busbw_MBps = cell->bus / f.us.median;
    if (n && cell->messages)
        f.rate_Mmsgs = (double)cell->messages / f.us.median;
    return f;
}

bool coll_all_valid(const coll_result_t *r)
{
    unsigned invalid = 0;
    for (unsigned i = 0; i < r->ncells; i++)
        invalid += r->cells[i].validity == INVALID;
    if (invalid)
        fprintf(stderr, "%s: validation failed in %u of %u cases\n",
                r->test->table.command, invalid, r->ncells);
    return !invalid;
}

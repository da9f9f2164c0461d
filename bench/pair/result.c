/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

unsigned result_max_repeats(const options_t *opts)
{
    return opts->repeat ? (unsigned)opts->repeat : SAMPLING_MOST;
}

static int allocate_series(series_t *series, unsigned repeats)
{
    series->repeats = calloc(repeats, sizeof *series->repeats);
    series->samples = calloc(1, sizeof *series->samples);
    return series->repeats && series->samples ? 0 : DRAIL_ENOMEM;
}

int result_allocate(result_t *r)
{
    r->ncells = r->opts->nsizes * r->plan->count;
    r->cells = calloc(r->ncells, sizeof *r->cells);
    if (!r->cells)
        return DRAIL_ENOMEM;
    for (unsigned i = 0; i < r->ncells; i++) {
        cell_t *cell = &r->cells[i];
        cell->bytes = r->opts->sizes[i / r->plan->count];
        cell->setup = i % r->plan->count;
        for (unsigned l = 0; l < r->test->nloops; l++)
            if (allocate_series(&cell->series[l], result_max_repeats(r->opts)))
                return DRAIL_ENOMEM;
    }
    return 0;
}

void result_free(result_t *r)
{
    for (unsigned i = 0; r->cells && i < r->ncells; i++)
        for (unsigned l = 0; l < TEST_LOOPS; l++) {
            free(r->cells[i].series[l].repeats);
            free(r->cells[i].series[l].samples);
        }
    free(r->cells);
}

bool cell_measured(const result_t *r, const cell_t *cell)
{
    for (unsigned l = 0; l < r->test->nloops; l++)
        if (!cell->series[l].count)
            return false;
    return true;
}

void result_warmup(const result_t *r, uint64_t *least, uint64_t *most)
{
    *least = UINT64_MAX;
    *most = 0;
    for (unsigned i = 0; i < r->ncells * r->test->nloops; i++) {
        const cell_t *cell = &r->cells[i / r->test->nloops];
        uint64_t ran = cell->series[i % r->test->nloops].warmup;
        if (!cell_measured(r, cell))
            continue;
        *least = ran < *least ? ran : *least;
        *most = ran > *most ? ran : *most;
    }
    if (*least > *most) /* nothing was measured */
        *least = *most = options_warmup(r->opts);
}

static summary_t summary_of(const result_t *r, double *values, unsigned n)
{
    const sampling_t rule = options_sampling(r->opts);
    return sampling_summary(&rule, values, n);
}

summary_t series_latency(const result_t *r, const series_t *series,
                         const loop_t *loop)
{
    double values[STATS_MAX];
    double messages = (double)loop_messages(loop, r->opts->batch);
    for (unsigned i = 0; i < series->count; i++) {
        const repeat_t *repeat = &series->repeats[i];
        values[i] =
            (double)repeat->ns / 1e3 / ((double)repeat->iterations * messages);
    }
    return summary_of(r, values, series->count);
}

/* Sum of bytes over sum of time of each repeat, in MB/s. */
static summary_t series_bandwidth(const result_t *r, const series_t *series)
{
    double values[STATS_MAX];
    for (unsigned i = 0; i < series->count; i++)
        values[i] = (double)series->repeats[i].bytes * 1e3 /
                    (double)series->repeats[i].ns;
    return summary_of(r, values, series->count);
}

static latency_t latency(const result_t *r, const series_t *series,
                         const loop_t *loop)
{
    double scale = 1e-3 / (double)loop_messages(loop, r->opts->batch);
    const hist_t *samples = series->samples;
    return (latency_t){
        .us = series_latency(r, series, loop),
        .p50 = scale * (double)hist_quantile(samples, 0.5),
        .p99 = scale * (double)hist_quantile(samples, 0.99),
        .p999 = scale * (double)hist_quantile(samples, 0.999),
        .max = scale * (double)samples->max,
    };
}

static double cpu_ns_per_byte(const series_t *series, unsigned rank)
{
    double cpu = 0, bytes = 0;
    for (unsigned i = 0; i < series->count; i++) {
        cpu += (double)series->repeats[i].cpu_ns[rank];
        bytes += (double)series->repeats[i].bytes;
    }
    return bytes > 0 ? cpu / bytes : NAN;
}

static double imbalance(const result_t *r, const cell_t *cell)
{
    double longest = 0, sum = 0;
    if (setup_one_rail(&r->plan->setups[cell->setup]) || r->opts->nrails < 2)
        return NAN;
    for (unsigned i = 0; i < r->opts->nrails; i++) {
        const drail_rail_time_t *rail = &cell->per_rail[i];
        double time = (double)(rail->post_ns + rail->wait_ns);
        longest = fmax(longest, time);
        sum += time;
    }
    return sum > 0 ? longest / (sum / r->opts->nrails) - 1 : NAN;
}

static double efficiency(const result_t *r, const cell_t *cell,
                         double bandwidth)
{
    const setup_t *setup = &r->plan->setups[cell->setup];
    const cell_t *row = cell - cell->setup; /* setup 0 of the same size */
    double sum = 0;
    for (unsigned i = 0; i < r->opts->nrails; i++) {
        if (setup_one_rail(setup) && i != setup->rail)
            continue;
        int single = plan_single(r->plan, i, setup);
        if (single < 0)
            return NAN;
        sum += series_bandwidth(r, &row[single].series[0]).median;
    }
    return sum > 0 ? bandwidth / sum : NAN;
}

limit_t limit_unknown(void)
{
    return (limit_t){LIMIT_NONE, stats_summary(NULL, 0)};
}

static double limit_pct(const result_t *r, const cell_t *cell,
                        const figures_t *f)
{
    if (cell->limit.kind == LIMIT_NONE)
        return NAN;
    if (cell->limit.kind == LIMIT_LINE)
        return 100 * cell->limit.figure.median /
               f->latency[r->test->nloops - 1].us.median;
    return 100 * f->bandwidth.median / cell->limit.figure.median;
}

typedef double (*part_fn_t)(const repeat_t *);

static double part_all(const repeat_t *repeat)
{
    return (double)repeat->ns;
}

static double part_post(const repeat_t *repeat)
{
    return (double)repeat->parts.post_ns;
}

static double part_wait(const repeat_t *repeat)
{
    return (double)repeat->parts.wait_ns;
}

static double part_other(const repeat_t *repeat)
{
    return part_all(repeat) - part_post(repeat) - part_wait(repeat);
}

/* A part of the time of each repeat, in microseconds per iteration. */
static summary_t series_part(const result_t *r, const series_t *series,
                             part_fn_t part)
{
    double values[STATS_MAX];
    for (unsigned i = 0; i < series->count; i++)
        values[i] = part(&series->repeats[i]) / 1e3 /
                    (double)series->repeats[i].iterations;
    return summary_of(r, values, series->count);
}

bool rail_in_memory(const drail_rail_info_t *info)
{
    return !strncmp(info->fabric, "shm", 3);
}

bool fabric_modelled(const char *fabric)
{
    return strstr(fabric, "model");
}

figures_t result_figures(const result_t *r, const cell_t *cell)
{
    const series_t *first = &cell->series[0];
    figures_t f = {
        .bandwidth = series_bandwidth(r, first),
        .cpu_ns_per_byte = {cpu_ns_per_byte(first, 0),
                            cpu_ns_per_byte(first, 1)},
        .imbalance = imbalance(r, cell),
    };
    for (unsigned l = 0; l < r->test->nloops; l++)
        f.latency[l] = latency(r, &cell->series[l], r->test->loops[l]);
    f.efficiency = efficiency(r, cell, f.bandwidth.median);
    f.limit_pct = limit_pct(r, cell, &f);
    f.batch = series_part(r, first, part_all);
    f.post = series_part(r, first, part_post);
    f.wait = series_part(r, first, part_wait);
    f.other = series_part(r, first, part_other);
    return f;
}

void rails_fabric(const drail_rail_info_t *rails, unsigned count,
                  const setup_t *setup, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count && used < size; i++) {
        const char *fabric = rails[i].fabric;
        if ((setup_one_rail(setup) && i != setup->rail) || strstr(text, fabric))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used ? "+" : "", fabric);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV: one header row, columns are found by name; more may follow. */
#include <math.h>

#include "report.h"

static const char header[] =
    "test,fabric,rails,engine,policy,algorithm,ranks,ppn,ports,bytes,"
    "iterations,latency_us,latency_us_p99,latency_us_lo,latency_us_hi,"
    "bandwidth_MBps,bandwidth_MBps_lo,bandwidth_MBps_hi,"
    "team,batch,repeats,outliers,ci_coverage,latency_us_p50,latency_us_p999,"
    "latency_us_max,cpu_ns_per_byte,imbalance,efficiency,pingpong_us,"
    "pingpong_us_p99,pingpong_us_lo,pingpong_us_hi,pingpong_us_p50,"
    "pingpong_us_p999,pingpong_us_max,valid,partial\n";

/* A number, or nothing where there is none. */
static void number(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, ",%.6g", value);
    else
        fputc(',', file);
}

static void pingpong(FILE *file, const latency_t *latency, bool measured)
{
    const double values[] = {latency->us.median, latency->p99, latency->us.lo,
                             latency->us.hi,     latency->p50, latency->p999,
                             latency->max};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        number(file, measured ? values[i] : NAN);
}

static void row(FILE *file, const result_t *r, const cell_t *cell)
{
    static const char *const validity[] = {"", "yes", "no"};
    const options_t *opts = r->opts;
    const setup_t *setup = &r->plan->setups[cell->setup];
    figures_t f = result_figures(r, cell);
    const latency_t *latency = &f.latency[0];
    char rails[DRAIL_MAX_RAILS * DRAIL_NAME_MAX], fabric[sizeof rails];

    setup_rails(setup, opts, rails, sizeof rails);
    result_fabric(r, setup, fabric, sizeof fabric);
    fprintf(file, "%s,%s,%s,%s,%s,,%llu,%llu,%u,%llu,%llu", r->test->name,
            fabric, rails, drail_engine_name(setup->engine),
            drail_policy_name(setup->policy), (unsigned long long)opts->ranks,
            (unsigned long long)(opts->ppn ? opts->ppn : opts->ranks),
            setup_one_rail(setup) ? 1 : opts->nrails,
            (unsigned long long)cell->bytes,
            (unsigned long long)cell->series[0].iterations);
    number(file, latency->us.median);
    number(file, latency->p99);
    number(file, latency->us.lo);
    number(file, latency->us.hi);
    number(file, f.bandwidth.median);
    number(file, f.bandwidth.lo);
    number(file, f.bandwidth.hi);
    fprintf(
        file, ",%s,%llu,%u,%u",
        setup->engine == DRAIL_ENGINE_THREADED ? drail_team_name(setup->team)
                                               : "",
        (unsigned long long)opts->batch, latency->us.n, latency->us.outliers);
    number(file, latency->us.coverage);
    number(file, latency->p50);
    number(file, latency->p999);
    number(file, latency->max);
    number(file, f.cpu_ns_per_byte[0] + f.cpu_ns_per_byte[1]);
    number(file, f.imbalance);
    number(file, f.efficiency);
    pingpong(file, &f.latency[1], r->test->nloops > 1);
    fprintf(file, ",%s,%s\n", validity[cell->validity],
            r->partial ? "yes" : "no");
}

void report_csv(FILE *file, const result_t *r)
{
    fputs(header, file);
    for (unsigned i = 0; i < r->ncells; i++)
        if (cell_measured(r, &r->cells[i]))
            row(file, r, &r->cells[i]);
}

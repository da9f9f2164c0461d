/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV: one header row, columns are found by name; more may follow. */
#include <math.h>

#include "bench/limits/limit.h"
#include "report.h"
#include "bench/pair/units.h"

static const char header[] = REPORT_CSV_COMMON
    "team,batch,repeats,outliers,ci_coverage,latency_us_p50,latency_us_p999,"
    "latency_us_max,cpu_ns_per_byte,imbalance,efficiency,pingpong_us,"
    "pingpong_us_p99,pingpong_us_lo,pingpong_us_hi,pingpong_us_p50,"
    "pingpong_us_p999,pingpong_us_max,valid,partial,post_us,post_us_lo,"
    "post_us_hi,wait_us,wait_us_lo,wait_us_hi,other_us,other_us_lo,"
    "other_us_hi,limit_kind,limit,limit_pct,wait,notify_by,eps,align,window,"
    "warmup,limit_MBps,limit_MBps_lo,limit_MBps_hi,limit_us,limit_us_lo,"
    "limit_us_hi,bandwidth_Gbps,rate_Mmsgs,op,buffers,"
    "read";

void report_csv_number(FILE *file, double value)
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
        report_csv_number(file, measured ? values[i] : NAN);
}

static void part(FILE *file, const summary_t *of, bool measured)
{
    report_csv_number(file, measured ? of->median : NAN);
    report_csv_number(file, measured ? of->lo : NAN);
    report_csv_number(file, measured ? of->hi : NAN);
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
    rails_fabric(r->rails, r->opts->nrails, setup, fabric, sizeof fabric);
    fprintf(file, "%s,%s,%s,%s,%s,,%llu,%llu,%u,%llu,%llu", r->test->name,
            fabric, rails, drail_engine_name(setup->engine),
            drail_policy_name(setup->policy), (unsigned long long)opts->ranks,
            (unsigned long long)options_ppn(opts),
            setup_one_rail(setup) ? 1 : opts->nrails,
            (unsigned long long)cell->bytes,
            (unsigned long long)cell->series[0].iterations);
    report_csv_number(file, latency->us.median);
    report_csv_number(file, latency->p99);
    report_csv_number(file, latency->us.lo);
    report_csv_number(file, latency->us.hi);
    report_csv_number(file, f.bandwidth.median);
    report_csv_number(file, f.bandwidth.lo);
    report_csv_number(file, f.bandwidth.hi);
    fprintf(
        file, ",%s,%llu,%u,%u",
        setup->engine == DRAIL_ENGINE_THREADED ? drail_team_name(setup->team)
                                               : "",
        (unsigned long long)opts->batch, latency->us.n, latency->us.outliers);
    report_csv_number(file, latency->us.coverage);
    report_csv_number(file, latency->p50);
    report_csv_number(file, latency->p999);
    report_csv_number(file, latency->max);
    report_csv_number(file, f.cpu_ns_per_byte[0] + f.cpu_ns_per_byte[1]);
    report_csv_number(file, f.imbalance);
    report_csv_number(file, f.efficiency);
    pingpong(file, &f.latency[1], r->test->nloops > 1);
    fprintf(file, ",%s,%s", validity[cell->validity],
            r->partial ? "yes" : "no");
    part(file, &f.post, r->test->breakdown);
    part(file, &f.wait, r->test->breakdown);
    part(file, &f.other, r->test->breakdown);
    fprintf(file, ",%s", limit_kind_name(cell->limit.kind));
    report_csv_number(file, cell->limit.figure.median);
    report_csv_number(file, f.limit_pct);
    fprintf(file, ",%s,%s,%llu,%llu,",
            setup_waits(setup) ? drail_waiting_name(setup->waiting) : "",
            drail_notify_by_name(setup->notify_by),
            (unsigned long long)opts->eps, (unsigned long long)opts->align);
    if (opts->window)
        fprintf(file, "%llu", (unsigned long long)opts->window);
    fprintf(file, ",%llu", (unsigned long long)cell->series[0].warmup);
    part(file, &cell->limit.figure,
         cell->limit.kind == LIMIT_COPY || cell->limit.kind == LIMIT_LINK);
    part(file, &cell->limit.figure, cell->limit.kind == LIMIT_LINE);
    report_csv_number(file, unit_figure(UNIT_GBPS, r, &f).median);
    report_csv_number(file, unit_figure(UNIT_MMSGS, r, &f).median);
    fprintf(file, ",%s,", op_name(setup->op));
    if (options_buffers(opts) == BUFFERS_OFF_CACHE)
        fputs(BUFFERS_OFF_CACHE_NAME, file);
    else if (options_buffers(opts))
        fprintf(file, "%llu", (unsigned long long)options_buffers(opts));
    fprintf(file, ",%s", opts->read ? "yes" : "no");
    report_csv_origin(file, &r->machine, opts);
}

void report_csv(FILE *file, const result_t *r)
{
    report_csv_header(file, header);
    for (unsigned i = 0; i < r->ncells; i++)
        if (cell_measured(r, &r->cells[i]))
            row(file, r, &r->cells[i]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a test between two ranks: the table, and the columns of the
 * CSV.
 */
#include <math.h>
#include <string.h>

#include "bench/limits/limit.h"
#include "bench/report/report.h"
#include "report_pair.h"
#include "units.h"

static void label(const void *result, unsigned index, char *text, size_t size)
{
    const result_t *r = result;
    const setup_t *setup = &r->plan->setups[index];
    setup_label(setup, r->opts, text, size);
    size_t used = strlen(text);
    if (setup->engine == DRAIL_ENGINE_SINGLE)
        snprintf(text + used, size - used, " %s", r->opts->rails[setup->rail]);
}

static bool has_row(const void *result, unsigned i)
{
    const result_t *r = result;
    return cell_measured(r, &r->cells[i]);
}

/* ------------------------------------------------- columns of the table --- */

static void first_cells(row_t *row, const result_t *r, const cell_t *cell)
{
    char text[REPORT_LABEL];
    label(r, cell->setup, text, sizeof text);
    row_cell_count(row, 0, 10, "bytes", cell->bytes);
    row_cell(row, 2, -row->of->width[0], "engine", text);
}

static void usual_cells(row_t *row, const result_t *r, const figures_t *f)
{
    static const char *const titles[TEST_LOOPS] = {"us", "pingpong"};
    for (unsigned l = 0; l < r->test->nloops; l++) {
        row_cell_summary(row, 9, titles[l], &f->latency[l].us);
        row_cell_number(row, 9, "p99 us", f->latency[l].p99);
    }
    for (unsigned u = 0; u < r->opts->nunits; u++) {
        const summary_t figure = unit_figure(r->opts->units[u], r, f);
        row_cell_summary(row, 9, unit_name(r->opts->units[u]), &figure);
    }
    row_cell_number(row, 8, "cpu ns/B",
                    f->cpu_ns_per_byte[0] + f->cpu_ns_per_byte[1]);
    row_cell_number(row, 6, "effic.", f->efficiency);
    row_cell_number(row, 6, "imbal.", f->imbalance);
    row_cell_count(row, 1, 4, "n", f->bandwidth.n);
    if (r->test->bound != BOUND_NONE)
        row_cell_number(row, 6, "ref%", f->limit_pct);
}

/* The parts of a batch's time, in place of the usual columns. */
static void breakdown_cells(row_t *row, const figures_t *f)
{
    row_cell_summary(row, 9, "us/batch", &f->batch);
    row_cell_summary(row, 9, "posting", &f->post);
    row_cell_summary(row, 9, "waiting", &f->wait);
    row_cell_summary(row, 9, "other", &f->other);
    row_cell_count(row, 1, 4, "n", f->batch.n);
}

static void cells(row_t *row, const result_t *r, const cell_t *cell)
{
    const figures_t f = result_figures(r, cell);
    first_cells(row, r, cell);
    if (r->test->breakdown)
        breakdown_cells(row, &f);
    else
        usual_cells(row, r, &f);
    row_cell_validity(row, 1, cell->validity);
}

/* --------------------------------------------------- columns of the CSV --- */

/* A number, "off-cache", or "" if all messages use one buffer. */
static void buffers_text(const options_t *o, char *text, size_t size)
{
    const uint64_t buffers = options_buffers(o);
    if (buffers == BUFFERS_OFF_CACHE)
        snprintf(text, size, BUFFERS_OFF_CACHE_NAME);
    else
        snprintf(text, size, "%.0llu", (unsigned long long)buffers);
}

static void latency_columns(row_t *row, const result_t *r, const cell_t *cell,
                            const figures_t *f)
{
    const latency_t *batch = &f->latency[0], *trip = &f->latency[1];
    row_number(row, IN_CSV, "latency_us_p50", batch->p50);
    row_number(row, IN_CSV, "latency_us_p999", batch->p999);
    row_number(row, IN_CSV, "latency_us_max", batch->max);
    row_number(row, IN_CSV, "cpu_ns_per_byte",
               f->cpu_ns_per_byte[0] + f->cpu_ns_per_byte[1]);
    row_number(row, IN_CSV, "imbalance", f->imbalance);
    row_number(row, IN_CSV, "efficiency", f->efficiency);
    row_has(row, r->test->nloops > 1);
    row_tail(row, "pingpong_us", &trip->us, trip->p99);
    row_number(row, IN_CSV, "pingpong_us_p50", trip->p50);
    row_number(row, IN_CSV, "pingpong_us_p999", trip->p999);
    row_number(row, IN_CSV, "pingpong_us_max", trip->max);
    row_has(row, true);
    row_validity(row, cell->validity);
    row_flag(row, IN_CSV, "partial", r->partial);
    row_has(row, r->test->breakdown);
    row_summary(row, IN_CSV, "post_us", &f->post);
    row_summary(row, IN_CSV, "wait_us", &f->wait);
    row_summary(row, IN_CSV, "other_us", &f->other);
    row_has(row, true);
}

static void csv_columns(row_t *row, const result_t *r, const cell_t *cell)
{
    const options_t *o = r->opts;
    const setup_t *setup = &r->plan->setups[cell->setup];
    const figures_t f = result_figures(r, cell);
    const latency_t *latency = &f.latency[0];
    const limit_kind_t kind = cell->limit.kind;
    char buffers[32];
    row_common(row, r->rails, setup, "", setup_one_rail(setup) ? 1 : o->nrails,
               cell->bytes);
    row_count(row, IN_CSV, "iterations", cell->series[0].iterations);
    row_tail(row, "latency_us", &latency->us, latency->p99);
    row_summary(row, IN_CSV, "bandwidth_MBps", &f.bandwidth);
    row_text(row, IN_CSV, "team", report_team(setup));
    row_count(row, IN_CSV, "batch", o->batch);
    row_count(row, IN_CSV, "repeats", latency->us.n);
    row_count(row, IN_CSV, "outliers", latency->us.outliers);
    row_number(row, IN_CSV, "ci_coverage", latency->us.coverage);
    latency_columns(row, r, cell, &f);
    row_text(row, IN_CSV, "limit_kind", limit_kind_name(kind));
    row_number(row, IN_CSV, "limit", cell->limit.figure.median);
    row_number(row, IN_CSV, "limit_pct", f.limit_pct);
    row_text(row, IN_CSV, "wait",
             setup_waits(setup) ? drail_waiting_name(setup->waiting) : "");
    row_text(row, IN_CSV, "notify_by", drail_notify_by_name(setup->notify_by));
    row_count(row, IN_CSV, "eps", o->eps);
    row_count(row, IN_CSV, "align", o->align);
    row_has(row, o->window);
    row_count(row, IN_CSV, "window", o->window);
    row_has(row, true);
    row_count(row, IN_CSV, "warmup", cell->series[0].warmup);
    row_has(row, kind == LIMIT_COPY || kind == LIMIT_LINK);
    row_summary(row, IN_CSV, "limit_MBps", &cell->limit.figure);
    row_has(row, kind == LIMIT_LINE);
    row_summary(row, IN_CSV, "limit_us", &cell->limit.figure);
    row_has(row, true);
    row_number(row, IN_CSV, "bandwidth_Gbps",
               unit_figure(UNIT_GBPS, r, &f).median);
    row_number(row, IN_CSV, "rate_Mmsgs",
               unit_figure(UNIT_MMSGS, r, &f).median);
    row_text(row, IN_CSV, "op", op_name(setup->op));
    buffers_text(o, buffers, sizeof buffers);
    row_text(row, IN_CSV, "buffers", buffers);
    row_flag(row, IN_CSV, "read", o->read);
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const result_t *r = result;
    if (row->pass == ROW_TITLES || row->pass == ROW_TABLE)
        cells(row, r, &r->cells[i]);
    else
        csv_columns(row, r, &r->cells[i]);
}

/* --------------------------------------------------------------- table --- */

/* Names options that are the same for all rows, if one is not the default. */
static void unusual(FILE *file, const options_t *o)
{
    bool serial = o->nwaitings == 1 && o->waitings[0] != DRAIL_WAITING_ANY;
    bool by = o->nnotify_bys == 1 && o->notify_bys[0] != DRAIL_NOTIFY_BY_AUTO;
    if (o->nops == 1 && o->ops[0] != OP_PUT)
        fprintf(file, "# operation: %s\n", op_name(o->ops[0]));
    if (o->eps == 1 && !o->align && !serial && !by)
        return;
    fprintf(file, "# eps %llu, align %llu, wait %s, notify-by %s\n",
            (unsigned long long)o->eps, (unsigned long long)o->align,
            o->nwaitings == 1 ? drail_waiting_name(o->waitings[0]) : "several",
            o->nnotify_bys == 1 ? drail_notify_by_name(o->notify_bys[0])
                                : "several");
}

/* Rows of long batches may have a shorter warm-up. */
static void warmup(FILE *file, const result_t *r)
{
    uint64_t least, most;
    result_warmup(r, &least, &most);
    fprintf(file, ", warm-up %llu", (unsigned long long)least);
    if (most > least)
        fprintf(file, " to %llu", (unsigned long long)most);
}

static void head(FILE *file, const report_t *of)
{
    const result_t *r = of->result;
    char buffers[32];
    buffers_text(r->opts, buffers, sizeof buffers);
    report_title(file, of);
    report_rails(file, r->opts, r->rails);
    if (r->opts->window)
        fprintf(file, "; window %llu", (unsigned long long)r->opts->window);
    fprintf(file, "; batch %llu", (unsigned long long)r->opts->batch);
    if (*buffers)
        fprintf(file, ", buffers %s", buffers);
    if (r->opts->read)
        fputs(", read", file);
    warmup(file, r);
    fprintf(file, ", stripe threshold %zu bytes, %s\n", r->threshold,
            r->opts->no_pin ? "not pinned" : "pinned");
    unusual(file, r->opts);
    report_notes(file, &r->notes);
    report_few(file, r->opts);
    report_partial(file, r->partial);
    fprintf(file,
            "# median %s over repeats; p99 over iterations; MB = 10^6 bytes\n",
            report_interval(r->opts));
}

/* A rail's part in a cell. */
static void rail_cells(row_t *row, const result_t *r, const cell_t *cell,
                       unsigned rail)
{
    const drail_rail_time_t *time = &cell->per_rail[rail];
    const double n = 1e3 * (double)cell->accounted; /* ns to us per batch */
    uint64_t bytes = 0;
    for (unsigned i = 0; i < r->opts->nrails; i++)
        bytes += cell->per_rail[i].bytes;
    first_cells(row, r, cell);
    row_cell(row, 1, -10, "rail", r->opts->rails[rail]);
    row_cell_number(row, 9, "share %",
                    bytes ? 100 * (double)time->bytes / (double)bytes : NAN);
    row_cell_number(row, 9, "post us", (double)time->post_ns / n);
    row_cell_number(row, 9, "wait us", (double)time->wait_ns / n);
    row_cell_number(row, 9, "cpu us", (double)time->cpu_ns / n);
    row_cell_end(row, "\n");
}

static void per_rail(FILE *file, const report_t *of)
{
    const result_t *r = of->result;
    row_t row = {.of = of, .file = file, .pass = ROW_TITLES};
    fputc('\n', file);
    rail_cells(&row, r, &r->cells[0], 0);
    fputc('\n', file);
    row.pass = ROW_TABLE;
    for (unsigned i = 0; i < r->ncells * r->opts->nrails; i++) {
        const cell_t *cell = &r->cells[i / r->opts->nrails];
        const unsigned rail = i % r->opts->nrails;
        const drail_rail_time_t *time = &cell->per_rail[rail];
        if (cell->accounted && (time->post_ns || time->wait_ns))
            rail_cells(&row, r, cell, rail);
    }
    fputs("# per batch\n", file);
}

/* The highest bandwidth of each setup. */
static void peaks(FILE *file, const report_t *of)
{
    const result_t *r = of->result;
    fputc('\n', file);
    for (unsigned s = 0; s < r->plan->count; s++) {
        const cell_t *best = NULL;
        double peak = 0;
        char text[REPORT_LABEL];
        for (unsigned i = s; i < r->ncells; i += r->plan->count) {
            double median = result_figures(r, &r->cells[i]).bandwidth.median;
            if (median > peak) {
                peak = median;
                best = &r->cells[i];
            }
        }
        if (!best)
            continue;
        label(r, s, text, sizeof text);
        fprintf(file, "# highest median: %-*s", of->width[0], text);
        report_number(file, 9, peak);
        fprintf(file, " MB/s at %llu bytes\n", (unsigned long long)best->bytes);
    }
}

static void table(FILE *file, const report_t *of)
{
    const result_t *r = of->result;
    head(file, of);
    report_rows(file, of, r->plan->count > 1 ? r->plan->count : 0);
    if (r->opts->per_rail)
        per_rail(file, of);
    if (!r->test->breakdown)
        peaks(file, of);
    traffic_table(file, &r->traffic, r->opts->rail_stats);
}

int pair_report(FILE *file, format_t format, const void *result)
{
    const result_t *r = result;
    const report_t report = {
        .result = r,
        .test = r->test->name,
        .machine = &r->machine,
        .opts = r->opts,
        .nrows = r->ncells,
        .has_row = has_row,
        .columns = columns,
        .width = {report_width("engine", r->plan->count, label, r)},
        .table = table,
        .json = pair_json,
        .histogram = pair_histogram};
    return report_write(file, format, &report);
}

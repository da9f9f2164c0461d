/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of the tests of one collective. */
#include <math.h>
#include <stdio.h>

#include "result.h"
#include "bench/report/report.h"
#include "bench/pair/units.h"

static const char *const start_names[] = {"auto", "time", "barrier"};

static bool has_rate(const coll_result_t *r)
{
    return r->ncells && r->cells[0].messages;
}

static bool reduces(const coll_result_t *r)
{
    return coll_plan_reduction(r->plan) != NULL;
}

static bool has_counts(const coll_result_t *r)
{
    return r->plan->collective == DCOLL_ALLTOALLV;
}

/* Name of the algorithm that serves the cell; "": auto, and the run ended
 * before it selected. */
static const char *served_by(const coll_cell_t *cell)
{
    return cell->algorithm ? cell->algorithm->name : "";
}

static double communicate_us(const coll_parts_t *p)
{
    return p->all_us - p->distribute_us - p->collect_us - p->deliver_us;
}

static const char *const overlap_names[] = {OVERLAP_NAMES};

static bool has_row(const void *result, unsigned i)
{
    const coll_result_t *r = result;
    return r->cells[i].count;
}

static void label(const void *result, unsigned i, char *text, size_t size)
{
    const coll_result_t *r = result;
    coll_setup_label(r->plan, &r->plan->setups[i], text, size);
}

/* ------------------------------------------------- columns of the table --- */

static void counts_cells(row_t *row, const coll_cell_t *cell)
{
    const coll_parts_t *p = &cell->parts;
    row_cell_number(row, 9, "bytes", (double)cell->total);
    row_cell_number(row, 9, "distrib", p->distribute_us);
    row_cell_number(row, 9, "commun", communicate_us(p));
    row_cell_number(row, 9, "collect", p->collect_us);
    row_cell_number(row, 9, "deliver", p->deliver_us);
}

static void overlap_cells(row_t *row, const coll_figures_t *f)
{
    const summary_t *overlap = f->overlap;
    row_cell_number(row, 9, "pure us", overlap[OVERLAP_PURE].median);
    row_cell_number(row, 9, "compute", overlap[OVERLAP_COMPUTE].median);
    row_cell_number(row, 9, "total", overlap[OVERLAP_TOTAL].median);
    row_cell_summary(row, 9, "overlap%", &overlap[OVERLAP_PERCENT]);
}

/* The end of a row: late marks, the algorithm that auto has selected, and
 * validity. */
static void end_cells(row_t *row, const coll_result_t *r,
                      const coll_cell_t *cell)
{
    row_cell_end(row, cell->kept_late ? "!" : " ");
    if (!coll_setup_of(r, cell)->algorithm) {
        row_cell_end(row, " ");
        row_cell_end(row, served_by(cell));
        row_cell_end(row, cell->args.zero_copy ? ", zero copy" : "");
    }
    row_cell_validity(row, 2, cell->validity);
}

static void cells(row_t *row, const coll_result_t *r, unsigned i)
{
    const coll_cell_t *cell = &r->cells[i];
    const coll_figures_t f = coll_figures(r->opts, cell);
    char text[REPORT_LABEL];
    label(r, cell->setup, text, sizeof text);
    if (has_counts(r))
        row_cell_count(row, 0, 10, "elements", cell->elements);
    else
        row_cell_count(row, 0, 10, "bytes", cell->bytes);
    row_cell(row, 2, -row->of->width[0], "algorithm", text);
    row_cell_summary(row, 9, "us", &f.us);
    row_cell_number(row, 9, "p99", f.p99);
    if (r->opts->each)
        row_cell_summary(row, 9, "each us", &f.each_us);
    if (r->opts->overlap)
        overlap_cells(row, &f);
    row_cell_number(row, 9, "avg", f.avg_us.median);
    row_cell_number(row, 9, "model", cell->model_us);
    row_cell_number(row, 9, "MB/s", f.MBps.median);
    if (has_rate(r))
        row_cell_number(row, 9, "Mmsg/s", f.rate_Mmsgs);
    if (has_counts(r))
        counts_cells(row, cell);
    row_cell_count(row, 1, 4, "n", f.us.n);
    row_cell_count(row, 1, 5, "late", cell->invalid);
    end_cells(row, r, cell);
}

/* --------------------------------------------------- columns of the CSV --- */

static void counts_columns(row_t *row, const coll_result_t *r,
                           const coll_cell_t *cell)
{
    const struct alltoallv_options *o = &r->opts->alltoallv;
    const coll_setup_t *setup = coll_setup_of(r, cell);
    const coll_parts_t *p = &cell->parts;
    row_text(row, IN_CSV, "pattern", o->patterns[setup->pattern]);
    row_text(row, IN_CSV, "interface", coll_setup_interface(setup));
    row_count(row, IN_CSV, "element", o->element);
    row_count(row, IN_CSV, "elements", cell->elements);
    row_count(row, IN_CSV, "total_bytes", cell->total);
    row_count(row, IN_CSV, "longest_bytes", cell->longest);
    row_count(row, IN_CSV, "most_bytes", cell->most);
    row_number(row, IN_CSV, "distribute_us", p->distribute_us);
    row_number(row, IN_CSV, "communicate_us", communicate_us(p));
    row_number(row, IN_CSV, "collect_us", p->collect_us);
    row_number(row, IN_CSV, "deliver_us", p->deliver_us);
}

/* The algorithm and the options of the cell. */
static void way_columns(row_t *row, const coll_result_t *r,
                        const coll_cell_t *cell)
{
    const dcoll_args_t *args = &cell->args;
    row_text(row, IN_CSV, "chosen", served_by(cell));
    row_flag(row, IN_CSV, "zero_copy", args->zero_copy);
    row_count(row, IN_CSV, "groups", args->groups);
    row_count(row, IN_CSV, "root", args->root);
    row_flag(row, IN_CSV, "in_place", args->in_place);
    row_flag(row, IN_CSV, "paced", args->paced);
    row_text(row, IN_CSV, "start", start_names[r->start]);
    row_validity(row, cell->validity);
    row_flag(row, IN_CSV, "partial", r->partial);
    row_count(row, IN_CSV, "kept_late", cell->kept_late);
    row_flag(row, IN_CSV, "payload", !r->opts->no_payload);
}

/* Figures of single and of overlapped calls. */
static void calls_columns(row_t *row, const coll_result_t *r,
                          const coll_cell_t *cell, const coll_figures_t *f)
{
    const coll_setup_t *setup = coll_setup_of(r, cell);
    row_text(row, IN_CSV, "call", has_counts(r) ? "" : coll_setup_call(setup));
    row_tail(row, "each_us", &f->each_us, f->each_p99);
    row_number(row, IN_CSV, "busbw_MBps", f->busbw_MBps);
    row_number(row, IN_CSV, "bandwidth_Gbps", unit_Gbps(f->MBps.median));
    row_has(row, r->opts->overlap);
    row_count(row, IN_CSV, "overlap_tests", r->opts->overlap_tests);
    row_has(row, true);
    for (unsigned i = 0; i < OVERLAP_FIGURES; i++)
        row_summary(row, IN_CSV, overlap_names[i], &f->overlap[i]);
    row_number(row, IN_CSV, "rate_Mmsgs", f->rate_Mmsgs);
}

static void csv_columns(row_t *row, const coll_result_t *r, unsigned i)
{
    const coll_cell_t *cell = &r->cells[i];
    const coll_setup_t *setup = coll_setup_of(r, cell);
    const coll_figures_t f = coll_figures(r->opts, cell);
    row_common(row, r->rails, &setup->rail, coll_setup_algorithm(setup),
               coll_ports_of(r, cell), cell->bytes);
    row_count(row, IN_CSV, "iterations", f.iterations);
    row_tail(row, "latency_us", &f.us, f.p99);
    row_summary(row, IN_CSV, "bandwidth_MBps", &f.MBps);
    row_text(row, IN_CSV, "team", report_team(&setup->rail));
    row_count(row, IN_CSV, "repeats", f.us.n);
    row_count(row, IN_CSV, "outliers", f.us.outliers);
    row_number(row, IN_CSV, "ci_coverage", f.us.coverage);
    row_number(row, IN_CSV, "latency_us_p50", f.p50);
    row_number(row, IN_CSV, "latency_us_p999", f.p999);
    row_number(row, IN_CSV, "latency_us_max", f.max);
    row_summary(row, IN_CSV, "latency_us_avg", &f.avg_us);
    row_count(row, IN_CSV, "invalid", cell->invalid);
    row_number(row, IN_CSV, "model_us", cell->model_us);
    way_columns(row, r, cell);
    if (has_counts(r))
        counts_columns(row, r, cell);
    if (reduces(r)) {
        row_text(row, IN_CSV, "type", options_type(r->opts));
        row_text(row, IN_CSV, "op", options_operator(r->opts));
    }
    calls_columns(row, r, cell, &f);
}

static void columns(row_t *row, const void *result, unsigned i)
{
    if (row->pass == ROW_TITLES || row->pass == ROW_TABLE)
        cells(row, result, i);
    else
        csv_columns(row, result, i);
}

/* --------------------------------------------------------------- table --- */

/* Describes a kind of call; "" if no row has it. */
static const char *calls_text(const coll_result_t *r, call_t call)
{
    static const char *const texts[] = {
        " persistent requests on registered memory;",
        " blocking calls on plain memory;"};
    for (unsigned i = 0; i < r->opts->ncalls; i++)
        if (r->opts->calls[i] == call)
            return texts[call];
    return "";
}

static void table_head(FILE *file, const report_t *of)
{
    const coll_result_t *r = of->result;
    const dcoll_cost_model_t *m = &r->model;
    report_title(file, of);
    report_rails(file, r->opts, r->rails);
    fprintf(file,
            "; %u ranks, %llu per node, %u ports, %s, repetitions start %s\n",
            r->plan->shape.nranks, (unsigned long long)options_ppn(r->opts),
            r->plan->shape.ports, r->opts->no_pin ? "not pinned" : "pinned",
            r->start == START_TIME ? "at a common time" : "after a barrier");
    fprintf(file,
            "# model: %.3g us + %.3g us/KB a message, copies %.3g us/KB, "
            "flags %.3g us (KB = 1000 bytes)\n",
            m->ts, 1e3 * m->tau, 1e3 * m->copy, m->flag);
    if (reduces(r))
        fprintf(file, "# %s of %s, combining %.3g us/KB; MB/s: of the result\n",
                options_operator(r->opts), options_type(r->opts),
                1e3 * m->combine);
    if (!has_counts(r) && r->opts->ncalls)
        fprintf(file, "# calls:%s%s\n", calls_text(r, CALL_PERSISTENT),
                calls_text(r, CALL_BLOCKING));
    report_notes(file, &r->notes);
    report_few(file, r->opts);
    report_partial(file, r->partial);
    fprintf(file,
            "# us: slowest rank; median %s over repeats, p99 over single "
            "calls; avg: mean over ranks; MB/s: received by %s, MB = 10^6 "
            "bytes\n",
            report_interval(r->opts), has_rate(r) ? "all ranks" : "a rank");
    if (has_rate(r))
        fprintf(file,
                "# a call: %llu messages of each pair, and an answer; Mmsg/s: "
                "of all pairs\n",
                (unsigned long long)r->opts->batch);
    if (r->opts->each)
        fprintf(file,
                "# each us: one call that all ranks make at the same time, "
                "until the last has returned; median %s of the repeats' "
                "medians\n",
                report_interval(r->opts));
    if (r->opts->overlap)
        fprintf(file,
                "# pure us: start and wait; total: the same with computation "
                "in between for as long, which looks %llu times; medians over "
                "calls, means over ranks; overlap%%: 100 (1 - (total - "
                "compute) / pure), median %s\n",
                (unsigned long long)r->opts->overlap_tests,
                report_interval(r->opts));
}

static void table(FILE *file, const report_t *of)
{
    const coll_result_t *r = of->result;
    table_head(file, of);
    report_rows(file, of, r->plan->count > 1 ? r->plan->count : 0);
    traffic_table(file, &r->traffic, r->opts->rail_stats);
}

/* ---------------------------------------------------------------- JSON --- */

static void json_counts_options(json_t *j, const struct alltoallv_options *o)
{
    json_uint(j, "element", o->element);
    json_uint(j, "rest", o->rest);
    json_double(j, "exponent", o->exponent);
    json_uint(j, "draw", o->seed);
    json_bool(j, "persistent", o->persistent);
    json_bool(j, "bounded", o->bounded);
    json_double(j, "contention", o->contention);
}

static void json_options(json_t *j, const coll_result_t *r)
{
    const options_t *o = r->opts;
    report_json_options_begin(j, o);
    json_uint(j, "ports", r->plan->shape.ports);
    json_uint(j, "root", o->root);
    json_uint(j, "groups", o->groups);
    json_bool(j, "in_place", o->in_place);
    json_bool(j, "unequal", o->unequal);
    json_bool(j, "paced", o->paced);
    json_string(j, "start", start_names[r->start]);
    if (has_counts(r))
        json_counts_options(j, &o->alltoallv);
    if (reduces(r)) {
        json_string(j, "type", options_type(o));
        json_string(j, "op", options_operator(o));
    }
    report_json_repetition(j, o);
    json_bool(j, "payload", !o->no_payload);
    json_bool(j, "validate", o->validate);
    json_bool(j, "pin", !o->no_pin);
    json_end_object(j);
    json_row_object(j, "model");
    json_double(j, "ts_us", r->model.ts);
    json_double(j, "tau_us_per_byte", r->model.tau);
    json_double(j, "copy_us_per_byte", r->model.copy);
    if (reduces(r))
        json_double(j, "combine_us_per_byte", r->model.combine);
    json_double(j, "flag_us", r->model.flag);
    json_end_object(j);
}

/* Distinguishes points of the same size and algorithm. */
static void json_variant(json_t *j, const coll_result_t *r,
                         const coll_setup_t *setup)
{
    const bool blocking = setup->call == CALL_BLOCKING;
    char text[32];
    snprintf(text, sizeof text, "%s+%s%s", options_type(r->opts),
             options_operator(r->opts), blocking ? "+blocking" : "");
    if (reduces(r))
        json_string(j, "variant", text);
    else if (blocking)
        json_string(j, "variant", "blocking");
}

static void json_configurations(json_t *j, const coll_result_t *r)
{
    char text[REPORT_LABEL + PATTERN_NAME_MAX];
    json_array(j, "configurations");
    for (unsigned i = 0; i < r->plan->count; i++) {
        const coll_setup_t *setup = &r->plan->setups[i];
        json_row_object(j, NULL);
        json_uint(j, "index", i);
        coll_setup_label(r->plan, setup, text, sizeof text);
        json_string(j, "label", text);
        json_string(j, "algorithm", coll_setup_algorithm(setup));
        if (has_counts(r)) {
            const char *pattern = r->opts->alltoallv.patterns[setup->pattern];
            const char *interface = coll_setup_interface(setup);
            json_string(j, "pattern", pattern);
            json_string(j, "interface", interface);
            snprintf(text, sizeof text, "%s+%s", pattern, interface);
            json_string(j, "variant", text); /* tells points apart */
        }
        if (!has_counts(r))
            json_string(j, "call", coll_setup_call(setup));
        json_variant(j, r, setup);
        report_json_engine(j, &setup->rail);
        report_json_setup_rails(j, r->opts, r->rails, &setup->rail);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_repeats(json_t *j, const coll_cell_t *cell)
{
    json_array(j, "repeats");
    for (unsigned i = 0; i < cell->count; i++) {
        const coll_repeat_t *repeat = &cell->repeats[i];
        json_row_object(j, NULL);
        json_uint(j, "iterations", repeat->iterations);
        json_uint(j, "ns", repeat->max_ns);
        json_uint(j, "ns_avg", repeat->avg_ns);
        json_uint(j, "bytes", repeat->iterations * cell->received);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_counts(json_t *j, const coll_cell_t *cell)
{
    json_uint(j, "elements", cell->elements);
    json_uint(j, "total_bytes", cell->total);
    json_uint(j, "longest_bytes", cell->longest);
    json_uint(j, "most_bytes", cell->most);
    json_row_object(j, "parts");
    json_double(j, "distribute_us", cell->parts.distribute_us);
    json_double(j, "communicate_us", communicate_us(&cell->parts));
    json_double(j, "collect_us", cell->parts.collect_us);
    json_double(j, "deliver_us", cell->parts.deliver_us);
    json_end_object(j);
}

static void json_overlap(json_t *j, const options_t *opts,
                         const coll_figures_t *figures, unsigned calls)
{
    json_object(j, "overlap");
    json_uint(j, "tests", opts->overlap_tests);
    json_uint(j, "calls", calls);
    for (unsigned i = 0; i < OVERLAP_FIGURES; i++)
        report_json_summary(j, overlap_names[i], &figures->overlap[i]);
    json_end_object(j);
}

static void json_cell(json_t *j, const coll_result_t *r,
                      const coll_cell_t *cell)
{
    coll_figures_t f = coll_figures(r->opts, cell);
    json_object(j, NULL);
    json_uint(j, "bytes", cell->bytes);
    json_uint(j, "configuration", cell->setup);
    json_string(j, "chosen", served_by(cell));
    json_bool(j, "zero_copy", cell->args.zero_copy);
    json_uint(j, "invalid", cell->invalid);
    json_uint(j, "kept_late", cell->kept_late);
    json_double(j, "model_us", cell->model_us);
    if (has_counts(r))
        json_counts(j, cell);
    json_object(j, "collective");
    json_uint(j, "messages_per_iteration", cell->messages ? cell->messages : 1);
    report_json_summary(j, "latency_us", &f.us);
    report_json_summary(j, "latency_us_avg", &f.avg_us);
    report_json_summary(j, "bandwidth_MBps", &f.MBps);
    json_double(j, "busbw_MBps", f.busbw_MBps);
    json_double(j, "bandwidth_Gbps", unit_Gbps(f.MBps.median));
    json_double(j, "rate_Mmsgs", f.rate_Mmsgs);
    json_double(j, "latency_us_p50", f.p50);
    json_double(j, "latency_us_p99", f.p99);
    json_double(j, "latency_us_p999", f.p999);
    json_double(j, "latency_us_max", f.max);
    json_repeats(j, cell);
    json_end_object(j);
    if (cell->each.count) {
        json_object(j, "each");
        report_json_summary(j, "latency_us", &f.each_us);
        json_double(j, "latency_us_p99", f.each_p99);
        json_uint(j, "calls", cell->each.calls);
        json_uint(j, "late", cell->each.late);
        json_uint(j, "kept_late", cell->each.kept_late);
        report_json_histogram(j, "ns per call", coll_each_of(r, cell));
        json_end_object(j);
    }
    if (cell->overlap.count)
        json_overlap(j, r->opts, &f, cell->overlap.calls);
    report_json_validity(j, cell->validity);
    json_end_object(j);
}

static void json(json_t *j, const report_t *of)
{
    const coll_result_t *r = of->result;
    json_bool(j, "partial", r->partial);
    json_double(j, "measured_s", r->seconds);
    json_uint(j, "validation_seed", r->seed);
    json_options(j, r);
    if (!r->opts->simulated) /* cores of no machine */
        report_json_pinning(j, coll_pinning(r), r->plan->shape.nranks);
    report_json_notes(j, &r->notes);
    report_json_machine(j, &r->machine);
    report_json_settings(j);
    report_json_rails(j, r->rails, r->opts->nrails);
    traffic_json(j, &r->traffic);
    json_configurations(j, r);
    json_array(j, "results");
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].count)
            json_cell(j, r, &r->cells[i]);
    json_end_array(j);
}

int coll_report(FILE *file, format_t format, const void *result)
{
    const coll_result_t *r = result;
    const report_t report = {
        .result = r,
        .test = r->test->name,
        .machine = &r->machine,
        .opts = r->opts,
        .nrows = r->ncells,
        .has_row = has_row,
        .columns = columns,
        .width = {report_width("algorithm", r->plan->count, label, r)},
        .table = table,
        .json = json,
        .histogram = coll_histogram};
    return report_write(file, format, &report);
}

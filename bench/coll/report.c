/* SPDX-License-Identifier: BSD-3-Clause */
/* Table, CSV and JSON of the tests of one collective. */
#include <math.h>
#include <string.h>

#include "report_overlap.h"
#include "bench/report/report.h"
#include "bench/pair/units.h"

#define LABEL_MAX 128

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

/* What serves the cell; "": auto, and a run that ended too early to tell. */
static const char *served_by(const coll_cell_t *cell)
{
    return cell->algorithm ? cell->algorithm->name : "";
}

static double communicate_us(const coll_parts_t *p)
{
    return p->all_us - p->distribute_us - p->collect_us - p->deliver_us;
}

/* --------------------------------------------------------------- table --- */

static int label_width(const coll_result_t *r)
{
    size_t widest = strlen("algorithm");
    for (unsigned i = 0; i < r->plan->count; i++) {
        char text[LABEL_MAX];
        coll_setup_label(r->plan, &r->plan->setups[i], text, sizeof text);
        if (strlen(text) > widest)
            widest = strlen(text);
    }
    return (int)widest;
}

/* What a kind of call is, if there is one of it. */
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

static void table_head(FILE *file, const coll_result_t *r)
{
    const dcoll_cost_model_t *m = &r->model;
    report_title(file, r->test->name, &r->machine, r->opts);
    fprintf(file, "# rails:");
    for (unsigned i = 0; i < r->opts->nrails; i++)
        fprintf(file, " %s (%s)", r->opts->rails[i], r->rails[i].fabric);
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
    if (r->partial)
        fputs("# note: partial result: the run was ended early\n", file);
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
        overlap_table_head(file, r->opts);
}

static void table_row(FILE *file, const coll_result_t *r,
                      const coll_cell_t *cell)
{
    char text[LABEL_MAX];
    coll_figures_t f = coll_figures(r->opts, cell);
    coll_setup_label(r->plan, coll_setup_of(r, cell), text, sizeof text);
    fprintf(file, "%10llu  %-*s",
            (unsigned long long)(has_counts(r) ? cell->elements : cell->bytes),
            label_width(r), text);
    report_number(file, 9, f.us.median);
    report_number(file, 9, f.us.lo);
    report_number(file, 9, f.us.hi);
    report_number(file, 9, f.p99);
    if (r->opts->each) {
        report_number(file, 9, f.each_us.median);
        report_number(file, 9, f.each_us.lo);
        report_number(file, 9, f.each_us.hi);
    }
    if (r->opts->overlap)
        overlap_table_row(file, &f);
    report_number(file, 9, f.avg_us.median);
    report_number(file, 9, cell->model_us);
    report_number(file, 9, f.MBps.median);
    if (has_rate(r))
        report_number(file, 9, f.rate_Mmsgs);
    if (has_counts(r)) {
        report_number(file, 9, (double)cell->total);
        report_number(file, 9, cell->parts.distribute_us);
        report_number(file, 9, communicate_us(&cell->parts));
        report_number(file, 9, cell->parts.collect_us);
        report_number(file, 9, cell->parts.deliver_us);
    }
    fprintf(file, " %4u %5u%c", f.us.n, cell->invalid,
            cell->kept_late ? '!' : ' ');
    if (!coll_setup_of(r, cell)->algorithm)
        fprintf(file, " %s%s", served_by(cell),
                cell->args.zero_copy ? ", zero copy" : "");
    fputs(cell->validity == VALID     ? "  valid\n"
          : cell->validity == INVALID ? "  INVALID\n"
                                      : "\n",
          file);
}

static void table(FILE *file, const coll_result_t *r)
{
    table_head(file, r);
    fprintf(file, "%10s  %-*s %9s %9s %9s %9s",
            has_counts(r) ? "elements" : "bytes", label_width(r), "algorithm",
            "us", "[lo", "hi]", "p99");
    if (r->opts->each)
        fprintf(file, " %9s %9s %9s", "each us", "[lo", "hi]");
    if (r->opts->overlap)
        overlap_table_names(file);
    fprintf(file, " %9s %9s %9s", "avg", "model", "MB/s");
    if (has_rate(r))
        fprintf(file, " %9s", "Mmsg/s");
    if (has_counts(r))
        fprintf(file, " %9s %9s %9s %9s %9s", "bytes", "distrib", "commun",
                "collect", "deliver");
    fprintf(file, " %4s %5s\n", "n", "late");
    for (unsigned i = 0; i < r->ncells; i++) {
        if (!r->cells[i].count)
            continue;
        if (i && r->plan->count > 1 && i % r->plan->count == 0)
            fputc('\n', file);
        table_row(file, r, &r->cells[i]);
    }
    traffic_table(file, &r->traffic, r->opts->rail_stats);
}

/* ----------------------------------------------------------------- CSV --- */

static const char header[] = REPORT_CSV_COMMON
    "team,repeats,outliers,ci_coverage,latency_us_p50,latency_us_p999,"
    "latency_us_max,latency_us_avg,latency_us_avg_lo,latency_us_avg_hi,"
    "invalid,model_us,chosen,zero_copy,groups,root,in_place,paced,start,"
    "valid,partial,kept_late,payload";

/* of calls with counts */
static const char header_counts[] =
    ",pattern,interface,element,elements,total_bytes,longest_bytes,most_bytes,"
    "distribute_us,communicate_us,collect_us,deliver_us";

static const char header_reduction[] = ",type,op";

static const char header_calls[] =
    ",call,each_us,each_us_p99,each_us_lo,each_us_hi,busbw_MBps,"
    "bandwidth_Gbps";

static void csv_numbers(FILE *file, const double *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        report_csv_number(file, values[i]);
}

static void csv_counts(FILE *file, const coll_result_t *r,
                       const coll_cell_t *cell)
{
    const struct alltoallv_options *o = &r->opts->alltoallv;
    const coll_setup_t *setup = coll_setup_of(r, cell);
    const coll_parts_t *p = &cell->parts;
    fprintf(file, ",%s,%s,%llu,%llu,%llu,%llu,%llu",
            o->patterns[setup->pattern], coll_setup_interface(setup),
            (unsigned long long)o->element, (unsigned long long)cell->elements,
            (unsigned long long)cell->total, (unsigned long long)cell->longest,
            (unsigned long long)cell->most);
    csv_numbers(file,
                (double[]){p->distribute_us, communicate_us(p), p->collect_us,
                           p->deliver_us},
                4);
}

static void csv_row(FILE *file, const coll_result_t *r, const coll_cell_t *cell)
{
    static const char *const validity[] = {"", "yes", "no"};
    const options_t *opts = r->opts;
    const coll_setup_t *setup = coll_setup_of(r, cell);
    coll_figures_t f = coll_figures(r->opts, cell);
    char rails[DRAIL_MAX_RAILS * DRAIL_NAME_MAX], fabric[sizeof rails];

    setup_rails(&setup->rail, opts, rails, sizeof rails);
    rails_fabric(r->rails, opts->nrails, &setup->rail, fabric, sizeof fabric);
    fprintf(file, "%s,%s,%s,%s,%s,%s,%llu,%llu,%u,%llu,%llu", r->test->name,
            fabric, rails, drail_engine_name(setup->rail.engine),
            drail_policy_name(setup->rail.policy), coll_setup_algorithm(setup),
            (unsigned long long)opts->ranks,
            (unsigned long long)options_ppn(opts), coll_ports_of(r, cell),
            (unsigned long long)cell->bytes, (unsigned long long)f.iterations);
    csv_numbers(file,
                (double[]){f.us.median, f.p99, f.us.lo, f.us.hi, f.MBps.median,
                           f.MBps.lo, f.MBps.hi},
                7);
    fprintf(file, ",%s,%u,%u",
            setup->rail.engine == DRAIL_ENGINE_THREADED
                ? drail_team_name(setup->rail.team)
                : "",
            f.us.n, f.us.outliers);
    csv_numbers(file,
                (double[]){f.us.coverage, f.p50, f.p999, f.max, f.avg_us.median,
                           f.avg_us.lo, f.avg_us.hi},
                7);
    fprintf(file, ",%u", cell->invalid);
    report_csv_number(file, cell->model_us);
    fprintf(file, ",%s,%s,%u,%u,%s,%s,%s,%s,%s,%u,%s", served_by(cell),
            cell->args.zero_copy ? "yes" : "no", cell->args.groups,
            cell->args.root, cell->args.in_place ? "yes" : "no",
            cell->args.paced ? "yes" : "no", start_names[r->start],
            validity[cell->validity], r->partial ? "yes" : "no",
            cell->kept_late, opts->no_payload ? "no" : "yes");
    if (has_counts(r))
        csv_counts(file, r, cell);
    if (reduces(r))
        fprintf(file, ",%s,%s", options_type(opts), options_operator(opts));
    fprintf(file, ",%s", has_counts(r) ? "" : coll_setup_call(setup));
    csv_numbers(file,
                (double[]){f.each_us.median, f.each_p99, f.each_us.lo,
                           f.each_us.hi, f.busbw_MBps,
                           unit_Gbps(f.MBps.median)},
                6);
    overlap_csv_row(file, opts, &f);
    report_csv_number(file, f.rate_Mmsgs);
    report_csv_origin(file, &r->machine, opts);
}

static void csv(FILE *file, const coll_result_t *r)
{
    fprintf(file, "%s%s", header, has_counts(r) ? header_counts : "");
    fputs(reduces(r) ? header_reduction : "", file);
    fputs(header_calls, file);
    fputs(overlap_csv_header, file);
    report_csv_header(file, ",rate_Mmsgs");
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].count)
            csv_row(file, r, &r->cells[i]);
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

/* Tells points apart. */
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
    char text[DRAIL_MAX_RAILS * DRAIL_NAME_MAX];
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
        json_string(j, "engine", drail_engine_name(setup->rail.engine));
        if (setup->rail.engine == DRAIL_ENGINE_THREADED)
            json_string(j, "team", drail_team_name(setup->rail.team));
        json_string(j, "policy", drail_policy_name(setup->rail.policy));
        setup_rails(&setup->rail, r->opts, text, sizeof text);
        json_string(j, "rails", text);
        rails_fabric(r->rails, r->opts->nrails, &setup->rail, text,
                     sizeof text);
        json_string(j, "fabric", text);
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
        overlap_json(j, r->opts, &f, cell->overlap.calls);
    report_json_validity(j, cell->validity);
    json_end_object(j);
}

static void json(FILE *file, const coll_result_t *r)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    report_json_identity(j, r->test->name, &r->machine);
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
    json_end_object(j);
}

void coll_report(FILE *file, format_t format, const void *result)
{
    static void (*const reports[])(FILE *, const coll_result_t *) = {
        [FORMAT_TABLE] = table,
        [FORMAT_CSV] = csv,
        [FORMAT_JSON] = json,
        [FORMAT_HISTOGRAM] = coll_histogram};
    reports[format](file, result);
}

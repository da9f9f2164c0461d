/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON of a test between two ranks: one self-describing file. All that the
 * table and the CSV show can be computed again from it: it holds every repeat
 * and the raw histograms.
 */
#include "bench/limits/limit.h"
#include "bench/report/report.h"
#include "report_pair.h"
#include "units.h"

static void options(json_t *j, const result_t *r)
{
    const options_t *o = r->opts;
    report_json_options_begin(j, o);
    json_uint(j, "batch", o->batch);
    if (o->window)
        json_uint(j, "window", o->window);
    if (options_buffers(o) == BUFFERS_OFF_CACHE)
        json_string(j, "buffers", BUFFERS_OFF_CACHE_NAME);
    else if (options_buffers(o))
        json_uint(j, "buffers", options_buffers(o));
    json_bool(j, "read", o->read);
    json_bool(j, "consume", o->consume);
    report_json_repetition(j, o);
    json_uint(j, "stripe_threshold", r->threshold);
    json_uint(j, "stripe_align", o->align);
    json_uint(j, "eps", o->eps);
    json_bool(j, "validate", o->validate);
    json_bool(j, "pin", !o->no_pin);
    json_end_object(j);

    report_json_pinning(j, r->pinning, 2);
}

static void configurations(json_t *j, const result_t *r)
{
    json_array(j, "configurations");
    for (unsigned i = 0; i < r->plan->count; i++) {
        const setup_t *setup = &r->plan->setups[i];
        char text[REPORT_LABEL];
        json_row_object(j, NULL);
        json_uint(j, "index", i);
        setup_label(setup, r->opts, text, sizeof text);
        json_string(j, "label", text);
        report_json_engine(j, setup);
        json_string(j, "op", op_name(setup->op));
        if (setup_waits(setup))
            json_string(j, "wait", drail_waiting_name(setup->waiting));
        json_string(j, "notify_by", drail_notify_by_name(setup->notify_by));
        setup_variant(setup, text, sizeof text);
        json_string(j, "variant", text);
        report_json_setup_rails(j, r->opts, r->rails, setup);
        json_end_object(j);
    }
    json_end_array(j);
}

static void repeats(json_t *j, const result_t *r, const series_t *series)
{
    json_array(j, "repeats");
    for (unsigned i = 0; i < series->count; i++) {
        const repeat_t *repeat = &series->repeats[i];
        json_row_object(j, NULL);
        json_uint(j, "iterations", repeat->iterations);
        json_uint(j, "ns", repeat->ns);
        json_uint(j, "bytes", repeat->bytes);
        json_uint(j, "median_ns", repeat->median_ns);
        json_uint(j, "cpu_ns_rank0", repeat->cpu_ns[0]);
        json_uint(j, "cpu_ns_rank1", repeat->cpu_ns[1]);
        if (r->test->breakdown) {
            json_uint(j, "post_ns", repeat->parts.post_ns);
            json_uint(j, "wait_ns", repeat->parts.wait_ns);
        }
        json_end_object(j);
    }
    json_end_array(j);
}

static void loop_result(json_t *j, const result_t *r, const cell_t *cell,
                        const figures_t *f, unsigned l)
{
    const loop_t *loop = r->test->loops[l];
    const latency_t *latency = &f->latency[l];
    json_object(j, loop->name);
    json_uint(j, "messages_per_iteration", loop_messages(loop, r->opts->batch));
    json_uint(j, "iterations", cell->series[l].iterations);
    json_uint(j, "warmup", cell->series[l].warmup);
    report_json_summary(j, "latency_us", &latency->us);
    json_row_object(j, "percentiles_us");
    json_double(j, "p50", latency->p50);
    json_double(j, "p99", latency->p99);
    json_double(j, "p99.9", latency->p999);
    json_double(j, "max", latency->max);
    json_end_object(j);
    if (l == 0) {
        report_json_summary(j, "bandwidth_MBps", &f->bandwidth);
        json_double(j, "bandwidth_Gbps", unit_figure(UNIT_GBPS, r, f).median);
        json_double(j, "rate_Mmsgs", unit_figure(UNIT_MMSGS, r, f).median);
    }
    if (r->test->breakdown) {
        report_json_summary(j, "elapsed_us", &f->batch);
        report_json_summary(j, "post_us", &f->post);
        report_json_summary(j, "wait_us", &f->wait);
        report_json_summary(j, "other_us", &f->other);
    }
    repeats(j, r, &cell->series[l]);
    report_json_histogram(j, "ns per iteration", cell->series[l].samples);
    json_end_object(j);
}

static void per_rail(json_t *j, const result_t *r, const cell_t *cell)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < r->opts->nrails; i++)
        bytes += cell->per_rail[i].bytes;
    json_uint(j, "accounted_iterations", cell->accounted);
    json_array(j, "per_rail");
    for (unsigned i = 0; cell->accounted && i < r->opts->nrails; i++) {
        const drail_rail_time_t *rail = &cell->per_rail[i];
        json_row_object(j, NULL);
        json_string(j, "rail", r->opts->rails[i]);
        json_uint(j, "bytes", rail->bytes);
        json_double(j, "share",
                    bytes ? (double)rail->bytes / (double)bytes : 0);
        json_uint(j, "post_ns", rail->post_ns);
        json_uint(j, "wait_ns", rail->wait_ns);
        json_uint(j, "cpu_ns", rail->cpu_ns);
        json_end_object(j);
    }
    json_end_array(j);
}

static void limit(json_t *j, const cell_t *cell)
{
    bool lines = cell->limit.kind == LIMIT_LINE;
    json_row_object(j, "limit");
    json_string(j, "kind", limit_kind_name(cell->limit.kind));
    json_double(j, lines ? "latency_us" : "bandwidth_MBps",
                cell->limit.figure.median);
    if (cell->limit.kind != LIMIT_LINK) {
        json_double(j, lines ? "latency_us_lo" : "bandwidth_MBps_lo",
                    cell->limit.figure.lo);
        json_double(j, lines ? "latency_us_hi" : "bandwidth_MBps_hi",
                    cell->limit.figure.hi);
        json_uint(j, "n", cell->limit.figure.n);
    }
    json_end_object(j);
}

static void cell_result(json_t *j, const result_t *r, const cell_t *cell)
{
    const setup_t *setup = &r->plan->setups[cell->setup];
    figures_t f = result_figures(r, cell);
    json_object(j, NULL);
    json_uint(j, "bytes", cell->bytes);
    json_uint(j, "configuration", cell->setup);
    json_string(j, "engine", drail_engine_name(setup->engine));
    json_string(j, "policy", drail_policy_name(setup->policy));
    for (unsigned l = 0; l < r->test->nloops; l++)
        loop_result(j, r, cell, &f, l);
    json_double(j, "cpu_ns_per_byte_rank0", f.cpu_ns_per_byte[0]);
    json_double(j, "cpu_ns_per_byte_rank1", f.cpu_ns_per_byte[1]);
    json_double(j, "imbalance", f.imbalance);
    json_double(j, "efficiency", f.efficiency);
    if (cell->limit.kind != LIMIT_NONE)
        limit(j, cell);
    json_double(j, "limit_pct", f.limit_pct);
    per_rail(j, r, cell);
    report_json_validity(j, cell->validity);
    json_end_object(j);
}

void pair_json(json_t *j, const report_t *of)
{
    const result_t *r = of->result;
    json_bool(j, "partial", r->partial);
    json_double(j, "measured_s", r->seconds);
    json_uint(j, "validation_seed", r->seed);
    options(j, r);
    report_json_notes(j, &r->notes);
    report_json_machine(j, &r->machine);
    report_json_settings(j);
    report_json_rails(j, r->rails, r->opts->nrails);
    traffic_json(j, &r->traffic);
    configurations(j, r);
    json_array(j, "results");
    for (unsigned i = 0; i < r->ncells; i++)
        if (cell_measured(r, &r->cells[i]))
            cell_result(j, r, &r->cells[i]);
    json_end_array(j);
}

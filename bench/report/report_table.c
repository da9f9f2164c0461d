/* SPDX-License-Identifier: BSD-3-Clause */
/* The table for people. */
#include <math.h>
#include <string.h>

#include "report.h"
#include "bench/pair/units.h"

#define LABEL_MAX 128

void report_number(FILE *file, int width, double value)
{
    if (!isfinite(value))
        fprintf(file, " %*s", width, "-");
    else if (value >= 1000)
        fprintf(file, " %*.0f", width, value);
    else if (value >= 100)
        fprintf(file, " %*.1f", width, value);
    else
        fprintf(file, " %*.*f", width, value >= 10 ? 2 : 3, value);
}

static void label(const result_t *r, const cell_t *cell, char *text,
                  size_t size)
{
    const setup_t *setup = &r->plan->setups[cell->setup];
    setup_label(setup, r->opts, text, size);
    size_t used = strlen(text);
    if (setup->engine == DRAIL_ENGINE_SINGLE)
        snprintf(text + used, size - used, " %s", r->opts->rails[setup->rail]);
}

/* Widest label of the plan. */
static int label_width(const result_t *r)
{
    size_t widest = strlen("engine");
    for (unsigned i = 0; i < r->plan->count; i++) {
        char text[LABEL_MAX];
        label(r, &r->cells[i], text, sizeof text);
        if (strlen(text) > widest)
            widest = strlen(text);
    }
    return (int)widest;
}

void report_title(FILE *file, const char *test, const machine_t *m,
                  const options_t *opts)
{
    if (m->simulated[0])
        fprintf(file,
                "# railbench %s %s (%s), simulated: virtual time of %s, the "
                "same in every run\n",
                test, DRAIL_VERSION, m->revision, m->simulated);
    else
        fprintf(file, "# railbench %s %s (%s), %s: %s, %u cores%s, %s\n", test,
                DRAIL_VERSION, m->revision, m->host, m->cpu, m->cores,
                m->virtual_machine ? " (virtual machine)" : "", m->kernel);
    report_origin(file, m, opts);
}

static bool few(const options_t *opts)
{
    return opts->repeat && opts->repeat < 6 && !opts->simulated;
}

const char *report_interval(const options_t *opts)
{
    return opts->simulated ? "[range, where they are not alike]"
           : few(opts)     ? "[range]"
                           : "[95 % confidence interval]";
}

void report_few(FILE *file, const options_t *opts)
{
    if (few(opts))
        fputs("# note: fewer than 6 repeats: [lo hi] is their range, less than "
              "95 % confidence\n",
              file);
}

const char *report_spread(const options_t *opts)
{
    if (opts->simulated)
        return "range of repeats";
    return few(opts)
               ? "range of fewer than 6 repeats, less than 95 % confidence"
               : "95 % confidence interval";
}

void report_notes(FILE *file, const notes_t *notes)
{
    for (unsigned i = 0; i < notes->count; i++)
        fprintf(file, "# note: %s\n", notes->text[i]);
}

/* Options of which all rows have the same, but not the default. */
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

/* Of long batches, there may be fewer. */
static void warmup(FILE *file, const result_t *r)
{
    uint64_t least, most;
    result_warmup(r, &least, &most);
    fprintf(file, ", warm-up %llu", (unsigned long long)least);
    if (most > least)
        fprintf(file, " to %llu", (unsigned long long)most);
}

static void head(FILE *file, const result_t *r)
{
    report_title(file, r->test->name, &r->machine, r->opts);
    fprintf(file, "# rails:");
    for (unsigned i = 0; i < r->opts->nrails; i++)
        fprintf(file, " %s (%s)", r->opts->rails[i], r->rails[i].fabric);
    if (r->opts->window)
        fprintf(file, "; window %llu", (unsigned long long)r->opts->window);
    fprintf(file, "; batch %llu", (unsigned long long)r->opts->batch);
    if (options_buffers(r->opts) == BUFFERS_OFF_CACHE)
        fputs(", buffers " BUFFERS_OFF_CACHE_NAME, file);
    else if (options_buffers(r->opts))
        fprintf(file, ", buffers %llu",
                (unsigned long long)options_buffers(r->opts));
    if (r->opts->read)
        fputs(", read", file);
    warmup(file, r);
    fprintf(file, ", stripe threshold %zu bytes, %s\n", r->threshold,
            r->opts->no_pin ? "not pinned" : "pinned");
    unusual(file, r->opts);
    report_notes(file, &r->notes);
    report_few(file, r->opts);
    if (r->partial)
        fputs("# note: partial result: the run was ended early\n", file);
    fprintf(file,
            "# median %s over repeats; p99 over iterations; MB = 10^6 bytes\n",
            report_interval(r->opts));
}

static void column_names(FILE *file, const result_t *r)
{
    fprintf(file, "%10s  %-*s", "bytes", label_width(r), "engine");
    fprintf(file, " %9s %9s %9s %9s", "us", "[lo", "hi]", "p99 us");
    if (r->test->nloops > 1)
        fprintf(file, " %9s %9s %9s %9s", "pingpong", "[lo", "hi]", "p99 us");
    for (unsigned u = 0; u < r->opts->nunits; u++)
        fprintf(file, " %9s %9s %9s", unit_name(r->opts->units[u]), "[lo",
                "hi]");
    fprintf(file, " %7s %6s %6s %4s", "cpu ns/B", "effic.", "imbal.", "n");
    if (r->test->bound != BOUND_NONE)
        fprintf(file, " %6s", "limit%");
    fputc('\n', file);
}

static void latency_columns(FILE *file, const latency_t *latency)
{
    report_number(file, 9, latency->us.median);
    report_number(file, 9, latency->us.lo);
    report_number(file, 9, latency->us.hi);
    report_number(file, 9, latency->p99);
}

static void summary_columns(FILE *file, const summary_t *summary)
{
    report_number(file, 9, summary->median);
    report_number(file, 9, summary->lo);
    report_number(file, 9, summary->hi);
}

static void end_of_row(FILE *file, const cell_t *cell)
{
    fputs(cell->validity == VALID     ? " valid\n"
          : cell->validity == INVALID ? " INVALID\n"
                                      : "\n",
          file);
}

/* The parts of a batch's time, in place of the usual columns. */
static void breakdown_names(FILE *file, const result_t *r)
{
    static const char *const names[] = {"us/batch", "posting", "waiting",
                                        "other"};
    fprintf(file, "%10s  %-*s", "bytes", label_width(r), "engine");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(file, " %9s %9s %9s", names[i], "[lo", "hi]");
    fprintf(file, " %4s\n", "n");
}

static void breakdown_row(FILE *file, const result_t *r, const cell_t *cell)
{
    char text[LABEL_MAX];
    figures_t f = result_figures(r, cell);
    label(r, cell, text, sizeof text);
    fprintf(file, "%10llu  %-*s", (unsigned long long)cell->bytes,
            label_width(r), text);
    summary_columns(file, &f.batch);
    summary_columns(file, &f.post);
    summary_columns(file, &f.wait);
    summary_columns(file, &f.other);
    fprintf(file, " %4u", f.batch.n);
    end_of_row(file, cell);
}

static void row(FILE *file, const result_t *r, const cell_t *cell)
{
    char text[LABEL_MAX];
    figures_t f = result_figures(r, cell);
    label(r, cell, text, sizeof text);
    fprintf(file, "%10llu  %-*s", (unsigned long long)cell->bytes,
            label_width(r), text);
    for (unsigned l = 0; l < r->test->nloops; l++)
        latency_columns(file, &f.latency[l]);
    for (unsigned u = 0; u < r->opts->nunits; u++) {
        summary_t figure = unit_figure(r->opts->units[u], r, &f);
        summary_columns(file, &figure);
    }
    report_number(file, 8, f.cpu_ns_per_byte[0] + f.cpu_ns_per_byte[1]);
    report_number(file, 6, f.efficiency);
    report_number(file, 6, f.imbalance);
    fprintf(file, " %4u", f.bandwidth.n);
    if (r->test->bound != BOUND_NONE)
        report_number(file, 6, f.limit_pct);
    end_of_row(file, cell);
}

static void rails_of_cell(FILE *file, const result_t *r, const cell_t *cell)
{
    char text[LABEL_MAX];
    uint64_t bytes = 0;
    label(r, cell, text, sizeof text);
    for (unsigned i = 0; i < r->opts->nrails; i++)
        bytes += cell->per_rail[i].bytes;
    for (unsigned i = 0; i < r->opts->nrails; i++) {
        const drail_rail_time_t *rail = &cell->per_rail[i];
        double n = 1e3 * (double)cell->accounted; /* ns to us per batch */
        if (!rail->post_ns && !rail->wait_ns)
            continue;
        fprintf(file, "%10llu  %-*s %-10s", (unsigned long long)cell->bytes,
                label_width(r), text, r->opts->rails[i]);
        report_number(file, 9,
                      bytes ? 100 * (double)rail->bytes / (double)bytes : NAN);
        report_number(file, 9, (double)rail->post_ns / n);
        report_number(file, 9, (double)rail->wait_ns / n);
        report_number(file, 9, (double)rail->cpu_ns / n);
        fputc('\n', file);
    }
}

static void per_rail(FILE *file, const result_t *r)
{
    fprintf(file, "\n%10s  %-*s %-10s %9s %9s %9s %9s\n", "bytes",
            label_width(r), "engine", "rail", "share %", "post us", "wait us",
            "cpu us");
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].accounted)
            rails_of_cell(file, r, &r->cells[i]);
    fputs("# per batch\n", file);
}

/* The highest bandwidth of each setup. */
static void peaks(FILE *file, const result_t *r)
{
    fputc('\n', file);
    for (unsigned s = 0; s < r->plan->count; s++) {
        const cell_t *best = NULL;
        double peak = 0;
        char text[LABEL_MAX];
        for (unsigned i = s; i < r->ncells; i += r->plan->count) {
            double median = result_figures(r, &r->cells[i]).bandwidth.median;
            if (median > peak) {
                peak = median;
                best = &r->cells[i];
            }
        }
        if (!best)
            continue;
        label(r, best, text, sizeof text);
        fprintf(file, "# highest median: %-*s", label_width(r), text);
        report_number(file, 9, peak);
        fprintf(file, " MB/s at %llu bytes\n", (unsigned long long)best->bytes);
    }
}

void report_table(FILE *file, const result_t *r)
{
    head(file, r);
    if (r->test->breakdown)
        breakdown_names(file, r);
    else
        column_names(file, r);
    for (unsigned i = 0; i < r->ncells; i++) {
        if (!cell_measured(r, &r->cells[i]))
            continue;
        if (i && r->plan->count > 1 && i % r->plan->count == 0)
            fputc('\n', file);
        if (r->test->breakdown)
            breakdown_row(file, r, &r->cells[i]);
        else
            row(file, r, &r->cells[i]);
    }
    if (r->opts->per_rail)
        per_rail(file, r);
    if (!r->test->breakdown)
        peaks(file, r);
    traffic_table(file, &r->traffic, r->opts->rail_stats);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of `railbench degrade`. */
#include <math.h>
#include <string.h>

#include "bench/report/report.h"
#include "bench/report/traffic.h"
#include "degrade_result.h"

#define TABLE_ROWS  40 /* of a run's rates */
#define TABLE_WIDTH 50 /* of their bars */
#define TABLE_SHOWN 30 /* events one by one */

static unsigned interval(const degrade_result_t *r)
{
    return (unsigned)r->opts->degrade.interval_ms;
}

static recovery_t recovery(const degrade_result_t *r, const degrade_run_t *run,
                           unsigned event)
{
    return recovery_of(&run->bins, &run->events, event, &run->capacity,
                       interval(r), run->bytes);
}

static const char *state_of(const drail_rail_stats_t *stats)
{
    return drail_rail_state_name(stats->state);
}

/* --------------------------------------------------------------- table --- */

/* A row for each so many intervals: their mean, and as a bar. */
static void table_rates(FILE *file, const degrade_result_t *r,
                        const degrade_run_t *run)
{
    static const char bar[] =
        "##################################################";
    unsigned step = interval(r);
    while (run->bins.count / step > TABLE_ROWS)
        step += interval(r);
    fprintf(file, "\n%10s %9s\n", "ms", "MB/s");
    for (unsigned at = 0; at + step <= run->bins.count; at += step) {
        double rate = bins_rate(&run->bins, at, at + step);
        double part = run->capacity.all > 0 ? rate / run->capacity.all : 0;
        fprintf(file, "%10u", at);
        report_number(file, 9, rate);
        fprintf(file, "  %.*s", (int)(fmin(part, 1) * TABLE_WIDTH), bar);
        for (unsigned i = 0; i < run->events.count; i++) {
            const event_t *e = &run->events.list[i];
            unsigned ms = (unsigned)(e->was_ns / 1000000);
            if (ms >= at && ms < at + step && run->events.count <= TABLE_SHOWN)
                fprintf(file, "  < %s %s", event_name(e->kind),
                        r->opts->rails[e->rail]);
        }
        fputc('\n', file);
    }
}

static void event_cells(row_t *row, const degrade_result_t *r,
                        const degrade_run_t *run, unsigned i)
{
    const event_t *e = &run->events.list[i];
    const recovery_t f = recovery(r, run, i);
    char ms[32], text[32];
    snprintf(ms, sizeof ms, "%.1f", (double)e->was_ns / 1e6);
    int n = snprintf(text, sizeof text, "%s %.16s", event_name(e->kind),
                     r->opts->rails[e->rail]);
    if (e->kind == EVENT_SLOW)
        snprintf(text + n, sizeof text - (size_t)n, " %g", e->factor);
    row_cell(row, 0, 10, "ms", ms);
    row_cell(row, 2, -16, "event", text);
    row_cell_number(row, 9, "seen ms", f.seen_ms);
    row_cell_number(row, 9, "stall ms", f.stall_ms);
    row_cell_number(row, 9, "before", f.before);
    row_cell_number(row, 9, "dip", f.dip);
    row_cell_number(row, 6, "dip%", 100 * f.dip / f.before);
    row_cell_number(row, 9, "rec. ms", f.ms);
    row_cell_number(row, 9, "after", f.after);
    row_cell_number(row, 9, "possible", f.possible);
}

static void rail_cells(row_t *row, const degrade_result_t *r,
                       const degrade_run_t *run, unsigned i)
{
    const drail_rail_stats_t stats = degrade_rail(run, i);
    char name[17];
    snprintf(name, sizeof name, "%.16s", r->opts->rails[i]);
    row_cell(row, 0, -16, "rail", name);
    row_cell_number(row, 9, "alone", run->capacity.rail[i]);
    row_cell(row, 1, 10, "state", state_of(&stats));
    row_cell_count(row, 1, 14, "bytes", stats.put_bytes);
    row_cell_count(row, 1, 10, "messages", stats.puts);
    row_cell_count(row, 1, 8, "failures", stats.failures);
    row_cell_count(row, 1, 8, "retries", stats.retries);
    row_cell_count(row, 1, 14, "carried", stats.carried_bytes);
    row_cell_number(row, 9, "lost ms", (double)stats.lost_ns / 1e6);
    row_cell_number(row, 9, "down ms", (double)stats.down_ns / 1e6);
}

/* Titles and @p count rows, after a blank line. */
static void table_rows(FILE *file, const degrade_result_t *r,
                       const degrade_run_t *run, unsigned count,
                       void (*cells)(row_t *, const degrade_result_t *,
                                     const degrade_run_t *, unsigned))
{
    row_t row = {.file = file, .pass = ROW_TITLES};
    fputc('\n', file);
    cells(&row, r, run, 0);
    fputc('\n', file);
    row.pass = ROW_TABLE;
    for (unsigned i = 0; i < count; i++) {
        cells(&row, r, run, i);
        fputc('\n', file);
    }
}

static void table_run(FILE *file, const degrade_result_t *r,
                      const degrade_run_t *run)
{
    char label[REPORT_LABEL];
    damage_t damage = degrade_damage(run);
    const tally_t *bad = run->rank[0].code ? &run->rank[0] : &run->rank[1];
    setup_label(run->setup, r->opts, label, sizeof label);
    fprintf(file,
            "\n# %zu bytes, %s %s: all rails %.0f MB/s, with what happened "
            "%.0f MB/s\n",
            run->bytes, label, drail_policy_name(run->setup->policy),
            run->capacity.all, degrade_rate(run));
    fprintf(file,
            "# %llu messages in %.3f s, %u of %u events; %llu retries; %llu "
            "lost, %llu doubled, %llu with wrong bytes\n",
            (unsigned long long)run->rank[1].messages,
            (double)run->rank[0].ns / 1e9, run->done, run->planned,
            (unsigned long long)degrade_retries(run, r->opts->nrails),
            (unsigned long long)damage.losses,
            (unsigned long long)damage.duplicates,
            (unsigned long long)damage.wrong);
    if (degrade_shows_nothing(run))
        fputs("# note: one rail alone carries as much as all: what happens to "
              "the others shows in no rate (--rails gbe-a0,gbe-a1 have rates "
              "of their own)\n",
              file);
    if (run->events.cuts)
        fprintf(file, "# drawn with seed %llu\n",
                (unsigned long long)run->events.seed);
    if (bad->code)
        fprintf(file, "# ended early: %s\n", bad->why);
    table_rates(file, r, run);
    if (run->events.count && run->events.count <= TABLE_SHOWN)
        table_rows(file, r, run, run->events.count, event_cells);
    table_rows(file, r, run, r->opts->nrails, rail_cells);
}

static void table(FILE *file, const report_t *of)
{
    const degrade_result_t *r = of->result;
    report_title(file, of);
    report_rails(file, r->opts, r->rails);
    fprintf(file, "; window %llu, stripe threshold %zu bytes, %s\n",
            (unsigned long long)r->opts->degrade.window, r->threshold,
            r->opts->no_pin ? "not pinned" : "pinned");
    report_notes(file, &r->notes);
    report_partial(file, r->partial);
    fprintf(file,
            "# seen: until rank 0 has left the rail, or uses it again; dip: "
            "lowest interval (%u ms, or 20 messages) until recovered, dip%% of "
            "before; recovered: %.0f %% of possible in one, behind the stall; "
            "both from the event on; MB = 10^6 bytes\n",
            interval(r), 100 * RECOVERED);
    for (unsigned i = 0; i < r->nruns; i++)
        table_run(file, r, &r->runs[i]);
}

/* ----------------------------------------------------------------- CSV --- */

/* The subject of a row: a run as a whole, a rail or an event of it, or the rate
 * in one interval. */
typedef enum point_kind {
    POINT_RUN,
    POINT_RAIL,
    POINT_EVENT,
    POINT_BIN
} kind_t;

typedef struct point {
    const degrade_run_t *run;
    kind_t kind;
    unsigned index; /* of the rail or event; milliseconds of the interval */
} point_t;

static double point_rate(const degrade_result_t *r, const point_t *p)
{
    switch (p->kind) {
    case POINT_RUN:
        return degrade_rate(p->run);
    case POINT_RAIL:
        return p->run->capacity.rail[p->index];
    case POINT_BIN:
        return bins_rate(&p->run->bins, p->index, p->index + interval(r));
    default:
        return NAN;
    }
}

static double point_ms(const point_t *p)
{
    switch (p->kind) {
    case POINT_RUN:
        return (double)p->run->rank[0].ns / 1e6;
    case POINT_EVENT:
        return (double)p->run->events.list[p->index].was_ns / 1e6;
    case POINT_BIN:
        return p->index;
    default:
        return NAN;
    }
}

/* The columns that all tests have. */
static void common_columns(row_t *row, const degrade_result_t *r,
                           const point_t *p)
{
    static const char *const names[] = {"run", "rail", "event", "bin"};
    const summary_t unknown = {.median = NAN, .lo = NAN, .hi = NAN};
    summary_t rate = unknown;
    const setup_t *setup = p->run->setup ? p->run->setup : r->plan.setups;
    row_common(row, r->rails, setup, "",
               setup_one_rail(setup) ? 1 : r->opts->nrails, p->run->bytes);
    rate.median = point_rate(r, p);
    row_count(row, IN_CSV, "iterations", p->run->rank[1].messages);
    row_tail(row, "latency_us", &unknown, NAN);
    row_summary(row, IN_CSV, "bandwidth_MBps", &rate);
    row_text(row, IN_CSV, "what", names[p->kind]);
    row_number(row, IN_CSV, "time_ms", point_ms(p));
}

static void point_columns(row_t *row, const degrade_result_t *r,
                          const point_t *p)
{
    const degrade_run_t *run = p->run;
    const bool whole = p->kind == POINT_RUN, rail = p->kind == POINT_RAIL,
               event = p->kind == POINT_EVENT;
    const event_t *e = &run->events.list[event ? p->index : 0];
    const recovery_t f = event ? recovery(r, run, p->index) : (recovery_t){0};
    const damage_t damage = degrade_damage(run);
    const drail_rail_stats_t stats = degrade_rail(run, rail ? p->index : 0);
    common_columns(row, r, p);
    row_has(row, event);
    row_text(row, IN_CSV, "event", event ? event_name(e->kind) : "");
    row_has(row, event || rail);
    row_text(row, IN_CSV, "rail",
             event  ? r->opts->rails[e->rail]
             : rail ? r->opts->rails[p->index]
                    : "");
    row_has(row, event);
    row_number(row, IN_CSV, "factor", event ? e->factor : NAN);
    row_number(row, IN_CSV, "before_MBps", f.before);
    row_number(row, IN_CSV, "dip_MBps", f.dip);
    row_number(row, IN_CSV, "stall_ms", f.stall_ms);
    row_number(row, IN_CSV, "recovery_ms", f.ms);
    row_number(row, IN_CSV, "after_MBps", f.after);
    row_number(row, IN_CSV, "possible_MBps", f.possible);
    row_has(row, rail);
    row_count(row, IN_CSV, "rail_bytes", stats.put_bytes);
    row_count(row, IN_CSV, "rail_messages", stats.puts);
    row_text(row, IN_CSV, "state", state_of(&stats));
    row_has(row, rail || whole);
    row_count(row, IN_CSV, "retries",
              rail ? stats.retries : degrade_retries(run, r->opts->nrails));
    row_has(row, whole);
    row_count(row, IN_CSV, "lost", damage.losses);
    row_count(row, IN_CSV, "doubled", damage.duplicates);
    row_count(row, IN_CSV, "wrong", damage.wrong);
    row_has(row, rail);
    row_count(row, IN_CSV, "failures", stats.failures);
    row_count(row, IN_CSV, "carried_bytes", stats.carried_bytes);
    row_number(row, IN_CSV, "lost_ms", (double)stats.lost_ns / 1e6);
    row_number(row, IN_CSV, "down_ms", (double)stats.down_ns / 1e6);
    row_has(row, event);
    row_number(row, IN_CSV, "seen_ms", f.seen_ms);
    row_has(row, true);
    row_flag(row, IN_CSV, "partial", r->partial);
}

/* Rows of the CSV for one run: itself, its rails, its events, its rates. */
static unsigned points(const degrade_result_t *r, const degrade_run_t *run)
{
    return 1 + r->opts->nrails + run->events.count +
           run->bins.count / interval(r);
}

static point_t point_of(const degrade_result_t *r, const degrade_run_t *run,
                        unsigned i)
{
    if (!i)
        return (point_t){run, POINT_RUN, 0};
    if (--i < r->opts->nrails)
        return (point_t){run, POINT_RAIL, i};
    i -= r->opts->nrails;
    if (i < run->events.count)
        return (point_t){run, POINT_EVENT, i};
    return (point_t){run, POINT_BIN, (i - run->events.count) * interval(r)};
}

static unsigned all_points(const degrade_result_t *r)
{
    unsigned count = 0;
    for (unsigned i = 0; i < r->nruns; i++)
        count += points(r, &r->runs[i]);
    return count;
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const degrade_result_t *r = result;
    const degrade_run_t *run = r->runs;
    while (row->pass != ROW_NAMES && i >= points(r, run))
        i -= points(r, run++);
    const point_t point = point_of(r, run, i);
    point_columns(row, r, &point);
}

/* ---------------------------------------------------------------- JSON --- */

static void json_options(json_t *j, const degrade_result_t *r)
{
    const options_t *o = r->opts;
    report_json_options_begin(j, o);
    json_double(j, "time_s", (double)o->degrade.time_ns / 1e9);
    json_uint(j, "interval_ms", o->degrade.interval_ms);
    json_uint(j, "window", o->degrade.window);
    json_string(j, "on_event", o->degrade.on_event ? o->degrade.on_event : "");
    json_uint(j, "stripe_threshold", r->threshold);
    json_uint(j, "eps", o->eps);
    json_bool(j, "pin", !o->no_pin);
    json_end_object(j);
}

static void json_configurations(json_t *j, const degrade_result_t *r)
{
    char text[REPORT_LABEL];
    json_array(j, "configurations");
    for (unsigned i = 0; i < r->plan.count; i++) {
        const setup_t *setup = &r->plan.setups[i];
        json_row_object(j, NULL);
        json_uint(j, "index", i);
        setup_label(setup, r->opts, text, sizeof text);
        json_string(j, "label", text);
        json_string(j, "engine", drail_engine_name(setup->engine));
        json_string(j, "policy", drail_policy_name(setup->policy));
        report_json_setup_rails(j, r->opts, r->rails, setup);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_event(json_t *j, const degrade_result_t *r,
                       const degrade_run_t *run, unsigned index)
{
    const event_t *e = &run->events.list[index];
    recovery_t f = recovery(r, run, index);
    json_row_object(j, NULL);
    json_double(j, "time_ms", (double)e->was_ns / 1e6);
    json_string(j, "event", event_name(e->kind));
    json_string(j, "rail", r->opts->rails[e->rail]);
    json_double(j, "factor", e->kind == EVENT_SLOW ? e->factor : NAN);
    json_double(j, "before_MBps", f.before);
    json_double(j, "dip_MBps", f.dip);
    json_double(j, "dip_pct", 100 * f.dip / f.before);
    json_double(j, "stall_ms", f.stall_ms);
    json_double(j, "seen_ms", f.seen_ms);
    json_double(j, "recovery_ms", f.ms);
    json_double(j, "after_MBps", f.after);
    json_double(j, "possible_MBps", f.possible);
    json_end_object(j);
}

static void json_rail(json_t *j, const degrade_result_t *r,
                      const degrade_run_t *run, unsigned rail)
{
    const drail_rail_stats_t stats = degrade_rail(run, rail);
    json_row_object(j, NULL);
    json_string(j, "rail", r->opts->rails[rail]);
    json_double(j, "alone_MBps", run->capacity.rail[rail]);
    json_uint(j, "bytes", stats.put_bytes);
    json_uint(j, "messages", stats.puts);
    json_string(j, "state", state_of(&stats));
    traffic_json_failures(j, &stats, stats.failures);
    json_end_object(j);
}

/* In the form of the other tests' results, for `railbench diff`: one repeat. */
static void json_whole(json_t *j, const degrade_run_t *run)
{
    json_object(j, "stream");
    json_uint(j, "messages_per_iteration", 1);
    json_array(j, "repeats");
    json_row_object(j, NULL);
    json_uint(j, "iterations", run->rank[1].messages);
    json_uint(j, "ns", run->rank[0].ns);
    json_uint(j, "bytes", run->rank[1].messages * run->bytes);
    json_end_object(j);
    json_end_array(j);
    json_end_object(j);
}

static void json_rates(json_t *j, const degrade_result_t *r,
                       const degrade_run_t *run)
{
    unsigned step = interval(r);
    json_row_array(j, "bandwidth_MBps");
    for (unsigned at = 0; at + step <= run->bins.count; at += step)
        json_double(j, NULL, bins_rate(&run->bins, at, at + step));
    json_end_array(j);
}

static void json_run(json_t *j, const degrade_result_t *r,
                     const degrade_run_t *run)
{
    damage_t damage = degrade_damage(run);
    const tally_t *bad = run->rank[0].code ? &run->rank[0] : &run->rank[1];
    json_object(j, NULL);
    json_uint(j, "bytes", run->bytes);
    json_uint(j, "configuration", (uint64_t)(run->setup - r->plan.setups));
    json_double(j, "all_MBps", run->capacity.all);
    json_double(j, "mean_MBps", degrade_rate(run));
    json_uint(j, "messages", run->rank[1].messages);
    json_uint(j, "retries", degrade_retries(run, r->opts->nrails));
    json_uint(j, "lost", damage.losses);
    json_uint(j, "doubled", damage.duplicates);
    json_uint(j, "wrong", damage.wrong);
    json_string(j, "ended", bad->code ? bad->why : "");
    json_uint(j, "events_planned", run->planned);
    json_uint(j, "events_done", run->done);
    if (run->events.cuts)
        json_uint(j, "seed", run->events.seed);
    if (run->rank[1].messages && run->rank[0].ns)
        json_whole(j, run);
    json_array(j, "rails");
    for (unsigned i = 0; i < r->opts->nrails; i++)
        json_rail(j, r, run, i);
    json_end_array(j);
    json_array(j, "events");
    for (unsigned i = 0; i < run->events.count; i++)
        json_event(j, r, run, i);
    json_end_array(j);
    json_rates(j, r, run);
    json_end_object(j);
}

static void json(json_t *j, const report_t *of)
{
    const degrade_result_t *r = of->result;
    json_bool(j, "partial", r->partial);
    json_options(j, r);
    report_json_settings(j);
    report_json_machine(j, &r->machine);
    report_json_rails(j, r->rails, r->opts->nrails);
    report_json_notes(j, &r->notes);
    json_configurations(j, r);
    json_array(j, "results");
    for (unsigned i = 0; i < r->nruns; i++)
        json_run(j, r, &r->runs[i]);
    json_end_array(j);
}

int degrade_report(FILE *file, format_t format, const void *result)
{
    const degrade_result_t *r = result;
    return report_write(file, format,
                        &(report_t){.result = r,
                                    .test = "degrade",
                                    .machine = &r->machine,
                                    .opts = r->opts,
                                    .nrows = all_points(r),
                                    .columns = columns,
                                    .table = table,
                                    .json = json});
}

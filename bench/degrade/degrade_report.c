/* SPDX-License-Identifier: BSD-3-Clause */
/* Table, CSV and JSON of `railbench degrade`. */
#include <math.h>
#include <string.h>

#include "bench/report/report.h"
#include "bench/report/traffic.h"
#include "degrade_result.h"

#define TEXT_MAX    (DRAIL_MAX_RAILS * DRAIL_NAME_MAX)
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

static void table_events(FILE *file, const degrade_result_t *r,
                         const degrade_run_t *run)
{
    if (!run->events.count || run->events.count > TABLE_SHOWN)
        return;
    fprintf(file, "\n%10s  %-16s %9s %9s %9s %9s %6s %9s %9s %9s\n", "ms",
            "event", "seen ms", "stall ms", "before", "dip", "dip%", "rec. ms",
            "after", "possible");
    for (unsigned i = 0; i < run->events.count; i++) {
        const event_t *e = &run->events.list[i];
        recovery_t f = recovery(r, run, i);
        char text[32];
        int n = snprintf(text, sizeof text, "%s %.16s", event_name(e->kind),
                         r->opts->rails[e->rail]);
        if (e->kind == EVENT_SLOW)
            snprintf(text + n, sizeof text - (size_t)n, " %g", e->factor);
        fprintf(file, "%10.1f  %-16s", (double)e->was_ns / 1e6, text);
        report_number(file, 9, f.seen_ms);
        report_number(file, 9, f.stall_ms);
        report_number(file, 9, f.before);
        report_number(file, 9, f.dip);
        report_number(file, 6, 100 * f.dip / f.before);
        report_number(file, 9, f.ms);
        report_number(file, 9, f.after);
        report_number(file, 9, f.possible);
        fputc('\n', file);
    }
}

static void table_rails(FILE *file, const degrade_result_t *r,
                        const degrade_run_t *run)
{
    fprintf(file, "\n%-16s %9s %10s %14s %10s %8s %8s %14s %9s %9s\n", "rail",
            "alone", "state", "bytes", "messages", "failures", "retries",
            "carried", "lost ms", "down ms");
    for (unsigned i = 0; i < r->opts->nrails; i++) {
        const drail_rail_stats_t rail = degrade_rail(run, i), *stats = &rail;
        fprintf(file, "%-16.16s", r->opts->rails[i]);
        report_number(file, 9, run->capacity.rail[i]);
        fprintf(file, " %10s %14llu %10llu %8llu %8llu %14llu", state_of(stats),
                (unsigned long long)stats->put_bytes,
                (unsigned long long)stats->puts,
                (unsigned long long)stats->failures,
                (unsigned long long)stats->retries,
                (unsigned long long)stats->carried_bytes);
        report_number(file, 9, (double)stats->lost_ns / 1e6);
        report_number(file, 9, (double)stats->down_ns / 1e6);
        fputc('\n', file);
    }
}

static void table_run(FILE *file, const degrade_result_t *r,
                      const degrade_run_t *run)
{
    char label[TEXT_MAX];
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
    table_events(file, r, run);
    table_rails(file, r, run);
}

static void table(FILE *file, const degrade_result_t *r)
{
    report_title(file, "degrade", &r->machine, r->opts);
    fputs("# rails:", file);
    for (unsigned i = 0; i < r->opts->nrails; i++)
        fprintf(file, " %s (%s)", r->opts->rails[i], r->rails[i].fabric);
    fprintf(file, "; window %llu, stripe threshold %zu bytes, %s\n",
            (unsigned long long)r->opts->degrade.window, r->threshold,
            r->opts->no_pin ? "not pinned" : "pinned");
    report_notes(file, &r->notes);
    if (r->partial)
        fputs("# note: partial result: the run was ended early\n", file);
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

static const char header[] = REPORT_CSV_COMMON
    "what,time_ms,event,rail,factor,before_MBps,dip_MBps,stall_ms,recovery_ms,"
    "after_MBps,possible_MBps,rail_bytes,rail_messages,state,retries,lost,"
    "doubled,wrong,failures,carried_bytes,lost_ms,down_ms,seen_ms,partial";

/* The columns that all tests have. */
static void csv_start(FILE *file, const degrade_result_t *r,
                      const degrade_run_t *run, double rate, const char *what,
                      double ms)
{
    char rails[TEXT_MAX], fabric[TEXT_MAX];
    const options_t *o = r->opts;
    setup_rails(run->setup, o, rails, sizeof rails);
    rails_fabric(r->rails, o->nrails, run->setup, fabric, sizeof fabric);
    fprintf(file, "degrade,%s,%s,%s,%s,,2,%llu,%u,%zu,%llu,,,,", fabric, rails,
            drail_engine_name(run->setup->engine),
            drail_policy_name(run->setup->policy),
            (unsigned long long)options_ppn(o),
            setup_one_rail(run->setup) ? 1 : o->nrails, run->bytes,
            (unsigned long long)run->rank[1].messages);
    report_csv_number(file, rate);
    fprintf(file, ",,,%s", what);
    report_csv_number(file, ms);
}

static void csv_end(FILE *file, const degrade_result_t *r)
{
    fprintf(file, ",%s", r->partial ? "yes" : "no");
    report_csv_origin(file, &r->machine, r->opts);
}

static void csv_event(FILE *file, const degrade_result_t *r,
                      const degrade_run_t *run, unsigned index)
{
    const event_t *e = &run->events.list[index];
    recovery_t f = recovery(r, run, index);
    csv_start(file, r, run, NAN, "event", (double)e->was_ns / 1e6);
    fprintf(file, ",%s,%s", event_name(e->kind), r->opts->rails[e->rail]);
    const double values[] = {e->factor, f.before, f.dip,     f.stall_ms,
                             f.ms,      f.after,  f.possible};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        report_csv_number(file, values[i]);
    fputs(",,,,,,,,,,,", file);
    report_csv_number(file, f.seen_ms);
    csv_end(file, r);
}

static void csv_run(FILE *file, const degrade_result_t *r,
                    const degrade_run_t *run)
{
    damage_t damage = degrade_damage(run);
    csv_start(file, r, run, degrade_rate(run), "run",
              (double)run->rank[0].ns / 1e6);
    fprintf(file, ",,,,,,,,,,,,,%llu,%llu,%llu,%llu",
            (unsigned long long)degrade_retries(run, r->opts->nrails),
            (unsigned long long)damage.losses,
            (unsigned long long)damage.duplicates,
            (unsigned long long)damage.wrong);
    fputs(",,,,,", file);
    csv_end(file, r);
    for (unsigned i = 0; i < r->opts->nrails; i++) {
        const drail_rail_stats_t rail = degrade_rail(run, i), *stats = &rail;
        csv_start(file, r, run, run->capacity.rail[i], "rail", NAN);
        fprintf(file, ",,%s,,,,,,,,%llu,%llu,%s,%llu,,,,%llu,%llu",
                r->opts->rails[i], (unsigned long long)stats->put_bytes,
                (unsigned long long)stats->puts, state_of(stats),
                (unsigned long long)stats->retries,
                (unsigned long long)stats->failures,
                (unsigned long long)stats->carried_bytes);
        report_csv_number(file, (double)stats->lost_ns / 1e6);
        report_csv_number(file, (double)stats->down_ns / 1e6);
        fputc(',', file);
        csv_end(file, r);
    }
    for (unsigned i = 0; i < run->events.count; i++)
        csv_event(file, r, run, i);
    unsigned step = interval(r);
    for (unsigned at = 0; at + step <= run->bins.count; at += step) {
        csv_start(file, r, run, bins_rate(&run->bins, at, at + step), "bin",
                  at);
        fputs(",,,,,,,,,,,,,,,,,,,,,", file);
        csv_end(file, r);
    }
}

static void csv(FILE *file, const degrade_result_t *r)
{
    report_csv_header(file, header);
    for (unsigned i = 0; i < r->nruns; i++)
        csv_run(file, r, &r->runs[i]);
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
    char text[TEXT_MAX];
    json_array(j, "configurations");
    for (unsigned i = 0; i < r->plan.count; i++) {
        const setup_t *setup = &r->plan.setups[i];
        json_row_object(j, NULL);
        json_uint(j, "index", i);
        setup_label(setup, r->opts, text, sizeof text);
        json_string(j, "label", text);
        json_string(j, "engine", drail_engine_name(setup->engine));
        json_string(j, "policy", drail_policy_name(setup->policy));
        setup_rails(setup, r->opts, text, sizeof text);
        json_string(j, "rails", text);
        rails_fabric(r->rails, r->opts->nrails, setup, text, sizeof text);
        json_string(j, "fabric", text);
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

static void json(FILE *file, const degrade_result_t *r)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    report_json_identity(j, "degrade", &r->machine);
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
    json_end_object(j);
}

void degrade_report(FILE *file, format_t format, const void *result)
{
    static void (*const reports[])(FILE *, const degrade_result_t *) = {
        [FORMAT_TABLE] = table, [FORMAT_CSV] = csv, [FORMAT_JSON] = json};
    reports[format](file, result);
}

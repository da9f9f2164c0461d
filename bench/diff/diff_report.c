/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of `railbench diff`. */
#include <string.h>

#include "diff.h"
#include "bench/report/report.h"

static const char *figure(const diff_point_t *point)
{
    return point->bandwidth ? "bandwidth_MBps" : "latency_us";
}

/* The measured loop or algorithm. */
static const char *name(const record_series_t *series)
{
    return *series->algorithm ? series->algorithm : series->loop;
}

/* Rails of one name may have been others in the old file. */
static void write_fabric(char *text, size_t size, const diff_point_t *p)
{
    const char *old = p->old->fabric, *new = p->series->fabric;
    bool same = !strcmp(old, new);
    snprintf(text, size, "%s%s%s", same ? "" : old, same ? "" : " -> ", new);
}

/* ------------------------------------------------------------- columns --- */

static void name_label(const void *result, unsigned i, char *text, size_t size)
{
    const diff_result_t *d = result;
    snprintf(text, size, "%s", name(d->points[i].series));
}

static void rails_label(const void *result, unsigned i, char *text, size_t size)
{
    const diff_result_t *d = result;
    snprintf(text, size, "%s", d->points[i].series->rails);
}

/* A figure of three digits at most in the table; "-" where there is none. */
static void odds_cell(row_t *row, const char *title, double value, bool known)
{
    char text[32] = "-";
    if (known)
        snprintf(text, sizeof text, "%.2g", value);
    row_cell(row, 1, 7, title, text);
}

static void cells(row_t *row, const diff_result_t *d, const diff_point_t *p)
{
    const record_series_t *s = p->series;
    char text[128];
    row_cell_count(row, 0, 10, "bytes", s->bytes);
    row_cell(row, 2, -row->of->width[0], "loop", name(s));
    row_cell(row, 2, -row->of->width[1], "rails", s->rails);
    snprintf(text, sizeof text, "%s%s%s", s->engine, *s->variant ? "/" : "",
             s->variant);
    row_cell(row, 2, -11, "engine", text);
    row_cell(row, 1, -10, "policy", s->policy);
    row_cell(row, 1, -8, "team", *s->team ? s->team : "-");
    row_cell(row, 2, -4, "unit", p->bandwidth ? "MB/s" : "us");
    row_cell_number(row, 9, "old", p->before.median);
    row_cell_number(row, 9, "new", p->after.median);
    snprintf(text, sizeof text, "%.3f", p->ratio);
    row_cell(row, 1, 7, "ratio", text);
    odds_cell(row, "p", p->rank.p, !d->simulated);
    odds_cell(row, "q", p->q, !d->simulated);
    snprintf(text, sizeof text, "%.2f", p->rank.delta);
    row_cell(row, 1, 6, "delta", text);
    row_cell(row, 2, 0, "verdict", verdict_name(p->verdict));
}

static void columns(row_t *row, const void *result, unsigned i)
{
    static const record_series_t nothing = {"", "", "", "",        "",
                                            "", "", "", .count = 0};
    const diff_result_t *d = result;
    const diff_point_t none = {.series = &nothing, .old = &nothing};
    const diff_point_t *p = d->npoints ? &d->points[i] : &none;
    const record_series_t *s = p->series;
    char fabric[2 * REPORT_RAILS];
    write_fabric(fabric, sizeof fabric, p);
    cells(row, d, p);
    row_text(row, IN_CSV, "test", d->after.test);
    row_count(row, IN_JSON, "bytes", s->bytes);
    row_text(row, IN_BOTH, "fabric", fabric);
    row_text(row, IN_BOTH, "rails", s->rails);
    row_text(row, IN_BOTH, "engine", s->engine);
    row_text(row, IN_BOTH, "policy", s->policy);
    row_has(row, *s->team);
    row_text(row, IN_BOTH, "team", s->team);
    row_has(row, *s->variant);
    row_text(row, IN_JSON, "variant", s->variant);
    row_has(row, true);
    row_text(row, IN_BOTH, "loop", s->loop);
    row_has(row, *s->algorithm);
    row_text(row, IN_BOTH, "algorithm", s->algorithm);
    row_has(row, true);
    row_count(row, IN_CSV, "bytes", s->bytes);
    row_text(row, IN_BOTH, "figure", figure(p));
    row_number(row, IN_CSV, "old", p->before.median);
    row_number(row, IN_CSV, "new", p->after.median);
    row_summary(row, IN_JSON, "old", &p->before);
    row_summary(row, IN_JSON, "new", &p->after);
    row_number(row, IN_BOTH, "ratio", p->ratio);
    row_number(row, IN_BOTH, "p", p->rank.p);
    row_number(row, IN_JSON, "q", p->q);
    row_number(row, IN_BOTH, "delta", p->rank.delta);
    row_count(row, IN_CSV, "repeats_old", p->before.n);
    row_count(row, IN_CSV, "repeats_new", p->after.n);
    row_text(row, IN_BOTH, "verdict", verdict_name(p->verdict));
    row_text(row, IN_CSV, "variant", s->variant);
    row_number(row, IN_CSV, "q", p->q);
}

/* --------------------------------------------------------------- table --- */

static void table_models(FILE *file, const diff_result_t *d)
{
    unsigned old = 0, new = 0;
    for (unsigned i = 0; i < d->npoints; i++) {
        old += fabric_modelled(d->points[i].old->fabric);
        new += fabric_modelled(d->points[i].series->fabric);
    }
    if (old || new)
        fprintf(file,
                "# note: over modelled rails: %u of %u points in old, %u in "
                "new\n",
                old, d->npoints, new);
}

static void table_head(FILE *file, const diff_result_t *d)
{
    fprintf(file, "# railbench diff %s, test %s\n# old: ", DRAIL_VERSION,
            d->after.test);
    report_argument(file, d->before.path);
    fputs("\n# new: ", file);
    report_argument(file, d->after.path);
    fputc('\n', file);
    if (d->after.launches)
        fprintf(file,
                "# a value of each launch, %u old and %u new: the median of "
                "its repeats\n",
                d->before.launches, d->after.launches);
    else if (!d->simulated)
        fputs("# note: one launch each: what differs from launch to launch "
              "counts as a difference\n",
              file);
    fprintf(file,
            "# medians over %s; ratio: new over old; p: Mann-Whitney rank "
            "test; delta: Cliff's, -1 ... 1\n",
            d->after.launches ? "launches" : "repeats");
    if (!d->simulated)
        fprintf(file,
                "# q: p corrected for %u point%s: at most this part of those "
                "at or below it is chance (Benjamini, Hochberg)\n",
                d->npoints, d->npoints == 1 ? "" : "s");
    if (d->simulated)
        fputs("# faster, slower: simulated, so ranges of repeats don't overlap",
              file);
    else
        fprintf(file, "# faster, slower: q < %g", DIFF_LEVEL);
    fprintf(file, " and medians differ by at least %g %%\n", 100 * DIFF_RATIO);
    if (d->only_before || d->only_after)
        fprintf(file, "# note: not compared: %u only in old, %u only in new\n",
                d->only_before, d->only_after);
    if (d->before.dropped || d->after.dropped)
        fprintf(file,
                "# note: left out, as some launch lacks them: %u of old, %u of "
                "new\n",
                d->before.dropped, d->after.dropped);
    table_models(file, d);
}

static void table(FILE *file, const report_t *of)
{
    const diff_result_t *d = of->result;
    table_head(file, d);
    report_rows(file, of, 0);
    fprintf(file, "\n# of %u points: %u faster, %u slower, %u the same",
            d->npoints, d->count[VERDICT_FASTER], d->count[VERDICT_SLOWER],
            d->count[VERDICT_SAME]);
    if (!d->simulated)
        fprintf(file, "; of those that differ, up to %g %% by chance",
                100 * DIFF_LEVEL);
    fputc('\n', file);
    fputs("# what else differs:\n", file);
    for (unsigned i = 0; i < d->nenvironment; i++) {
        const diff_setting_t *setting = &d->environment[i];
        fprintf(file, "# %s\n#   old: %s\n#   new: %s\n", setting->name,
                setting->before, setting->after);
    }
}

/* ---------------------------------------------------------------- JSON --- */

static void json_environment(json_t *j, const diff_result_t *d)
{
    json_array(j, "environment");
    for (unsigned i = 0; i < d->nenvironment; i++) {
        const diff_setting_t *setting = &d->environment[i];
        json_object(j, NULL);
        json_string(j, "name", setting->name);
        json_string(j, "old", setting->before);
        json_string(j, "new", setting->after);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json(json_t *j, const report_t *of)
{
    const diff_result_t *d = of->result;
    report_json_command(j, d->opts);
    json_string(j, "compared", d->after.test);
    json_double(j, "level", DIFF_LEVEL);
    json_string(j, "correction", d->simulated ? "none" : "Benjamini-Hochberg");
    json_uint(j, "compared_points", d->npoints);
    json_uint(j, "launches_old", d->before.launches ? d->before.launches : 1);
    json_uint(j, "launches_new", d->after.launches ? d->after.launches : 1);
    json_double(j, "ratio", DIFF_RATIO);
    json_uint(j, "faster", d->count[VERDICT_FASTER]);
    json_uint(j, "slower", d->count[VERDICT_SLOWER]);
    json_uint(j, "same", d->count[VERDICT_SAME]);
    json_uint(j, "only_old", d->only_before);
    json_uint(j, "only_new", d->only_after);
    json_uint(j, "dropped_old", d->before.dropped);
    json_uint(j, "dropped_new", d->after.dropped);
    json_environment(j, d);
    report_json_rows(j, "points", of, false);
}

int diff_report(FILE *file, format_t format, const void *result)
{
    const diff_result_t *d = result;
    return report_write(
        file, format,
        &(report_t){
            .result = d,
            .test = "diff",
            .machine = &d->machine,
            .opts = d->opts,
            .nrows = d->npoints,
            .columns = columns,
            .width = {report_width("loop", d->npoints, name_label, d),
                      report_width("rails", d->npoints, rails_label, d)},
            .table = table,
            .json = json});
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Table, CSV and JSON of `railbench diff`. */
#include <string.h>

#include "diff.h"
#include "bench/report/report.h"

static const char *figure(const diff_point_t *point)
{
    return point->bandwidth ? "bandwidth_MBps" : "latency_us";
}

#define FABRIC_TEXT (DRAIL_MAX_RAILS * DRAIL_NAME_MAX) /* of a result */

/* What is measured: a loop, or an algorithm. */
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

static int width_of(const diff_result_t *d, const char *title,
                    const char *(*text)(const record_series_t *))
{
    size_t width = strlen(title);
    for (unsigned i = 0; i < d->npoints; i++)
        if (strlen(text(d->points[i].series)) > width)
            width = strlen(text(d->points[i].series));
    return (int)width;
}

static const char *rails(const record_series_t *series)
{
    return series->rails;
}

static void engine_text(const record_series_t *s, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", s->engine, *s->variant ? "/" : "",
             s->variant);
}

static void table_points(FILE *file, const diff_result_t *d)
{
    int width = width_of(d, "rails", rails), names = width_of(d, "loop", name);
    fprintf(file,
            "%10s  %-*s  %-*s  %-11s %-10s %-8s  %-4s %9s %9s %7s %7s %7s %6s"
            "  %s\n",
            "bytes", names, "loop", width, "rails", "engine", "policy", "team",
            "unit", "old", "new", "ratio", "p", "q", "delta", "verdict");
    for (unsigned i = 0; i < d->npoints; i++) {
        const diff_point_t *p = &d->points[i];
        const record_series_t *s = p->series;
        char engine[128];
        engine_text(s, engine, sizeof engine);
        fprintf(file, "%10llu  %-*s  %-*s  %-11s %-10s %-8s  %-4s",
                (unsigned long long)s->bytes, names, name(s), width, s->rails,
                engine, s->policy, *s->team ? s->team : "-",
                p->bandwidth ? "MB/s" : "us");
        report_number(file, 9, p->before.median);
        report_number(file, 9, p->after.median);
        fprintf(file, " %7.3f", p->ratio);
        if (d->simulated)
            fprintf(file, " %7s %7s", "-", "-");
        else
            fprintf(file, " %7.2g %7.2g", p->rank.p, p->q);
        fprintf(file, " %6.2f  %s\n", p->rank.delta, verdict_name(p->verdict));
    }
}

static void table(FILE *file, const diff_result_t *d)
{
    table_head(file, d);
    table_points(file, d);
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

/* ----------------------------------------------------------------- CSV --- */

static void csv(FILE *file, const diff_result_t *d)
{
    report_csv_header(
        file,
        "test,fabric,rails,engine,policy,team,loop,algorithm,bytes,figure,"
        "old,new,"
        "ratio,p,"
        "delta,repeats_old,repeats_new,verdict,variant,q");
    for (unsigned i = 0; i < d->npoints; i++) {
        const diff_point_t *p = &d->points[i];
        const record_series_t *s = p->series;
        char fabric[2 * FABRIC_TEXT];
        write_fabric(fabric, sizeof fabric, p);
        fprintf(file, "%s,%s,%s,%s,%s,%s,%s,%s,%llu,%s", d->after.test, fabric,
                s->rails, s->engine, s->policy, s->team, s->loop, s->algorithm,
                (unsigned long long)s->bytes, figure(p));
        report_csv_number(file, p->before.median);
        report_csv_number(file, p->after.median);
        report_csv_number(file, p->ratio);
        report_csv_number(file, p->rank.p);
        report_csv_number(file, p->rank.delta);
        fprintf(file, ",%u,%u,%s,%s", p->before.n, p->after.n,
                verdict_name(p->verdict), s->variant);
        report_csv_number(file, p->q);
        report_csv_origin(file, &d->machine, d->opts);
    }
}

/* ---------------------------------------------------------------- JSON --- */

static void json_point(json_t *j, const diff_point_t *p)
{
    const record_series_t *s = p->series;
    char fabric[2 * FABRIC_TEXT];
    write_fabric(fabric, sizeof fabric, p);
    json_object(j, NULL);
    json_uint(j, "bytes", s->bytes);
    json_string(j, "fabric", fabric);
    json_string(j, "rails", s->rails);
    json_string(j, "engine", s->engine);
    json_string(j, "policy", s->policy);
    if (*s->team)
        json_string(j, "team", s->team);
    if (*s->variant)
        json_string(j, "variant", s->variant);
    json_string(j, "loop", s->loop);
    if (*s->algorithm)
        json_string(j, "algorithm", s->algorithm);
    json_string(j, "figure", figure(p));
    report_json_summary(j, "old", &p->before);
    report_json_summary(j, "new", &p->after);
    json_double(j, "ratio", p->ratio);
    json_double(j, "p", p->rank.p);
    json_double(j, "q", p->q);
    json_double(j, "delta", p->rank.delta);
    json_string(j, "verdict", verdict_name(p->verdict));
    json_end_object(j);
}

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

static void json(FILE *file, const diff_result_t *d)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    report_json_identity(j, "diff", &d->machine);
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
    json_array(j, "points");
    for (unsigned i = 0; i < d->npoints; i++)
        json_point(j, &d->points[i]);
    json_end_array(j);
    json_end_object(j);
}

void diff_report(FILE *file, format_t format, const void *result)
{
    static void (*const reports[])(FILE *, const diff_result_t *) = {
        [FORMAT_TABLE] = table, [FORMAT_CSV] = csv, [FORMAT_JSON] = json};
    reports[format](file, result);
}

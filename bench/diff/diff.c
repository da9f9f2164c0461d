/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

const char *verdict_name(verdict_t verdict)
{
    static const char *const names[] = {"same", "faster", "slower"};
    return names[verdict];
}

/* -------------------------------------------------------------- points --- */

static unsigned count_alone(const record_t *record, const record_t *other)
{
    unsigned count = 0;
    for (unsigned i = 0; i < record->count; i++)
        count += !record_find(other, &record->series[i]);
    return count;
}

static bool overlap(const summary_t *a, const summary_t *b)
{
    return a->min <= b->max && b->min <= a->max;
}

/* Few repeats are no sample from which a test could tell anything. */
static bool distinct(const diff_point_t *point, bool simulated)
{
    return simulated ? !overlap(&point->before, &point->after)
                     : point->q < DIFF_LEVEL;
}

static verdict_t judge(const diff_point_t *point, bool simulated)
{
    if (!distinct(point, simulated) || fabs(point->ratio - 1) < DIFF_RATIO)
        return VERDICT_SAME;
    return (point->ratio > 1) == point->bandwidth ? VERDICT_FASTER
                                                  : VERDICT_SLOWER;
}

static diff_point_t compare(const diff_result_t *d,
                            const record_series_t *before,
                            const record_series_t *after, bool bandwidth)
{
    const sampling_t *old = &d->before.sampling, *new = &d->after.sampling;
    double *x = bandwidth ? before->MBps : before->us;
    double *y = bandwidth ? after->MBps : after->us;
    diff_point_t point = {
        .series = after, .old = before, .bandwidth = bandwidth};
    point.rank = rank_test(x, before->count, y, after->count);
    point.rank.p =
        d->simulated ? NAN : sampling_p(old->repeat ? new : old, point.rank.p);
    point.before = sampling_summary(old, x, before->count);
    point.after = sampling_summary(new, y, after->count);
    point.ratio = point.after.median / point.before.median;
    return point;
}

/* All points together: many tests find something by chance. */
static int judge_all(diff_result_t *d)
{
    double *q = calloc(d->npoints ? d->npoints : 1, sizeof *q);
    if (!q)
        return -1;
    for (unsigned i = 0; i < d->npoints; i++)
        q[i] = d->points[i].rank.p;
    int rc = d->simulated ? 0 : false_discovery(q, d->npoints);
    for (unsigned i = 0; !rc && i < d->npoints; i++) {
        diff_point_t *point = &d->points[i];
        point->q = q[i];
        point->verdict = judge(point, d->simulated);
        d->count[point->verdict]++;
    }
    free(q);
    return rc;
}

static bool simulated(const record_t *record)
{
    const json_value_t *machine = json_get(record->json, "machine");
    return machine && json_get(machine, "simulated");
}

static int compare_series(diff_result_t *d)
{
    bool bandwidth =
        !strcmp(d->after.test, "bw") || !strcmp(d->after.test, "bibw");
    d->points = calloc(d->after.count ? d->after.count : 1, sizeof *d->points);
    if (!d->points)
        return -1;
    for (unsigned i = 0; i < d->after.count; i++) {
        const record_series_t *after = &d->after.series[i];
        const record_series_t *before = record_find(&d->before, after);
        if (!before)
            continue;
        d->points[d->npoints++] =
            compare(d, before, after, bandwidth && after->bytes > 0);
    }
    d->only_before = count_alone(&d->before, &d->after);
    d->only_after = count_alone(&d->after, &d->before);
    return judge_all(d);
}

/* --------------------------------------------------------- environment --- */

/* A value as text; the elements of an array are joined by blanks. */
static void write_value(FILE *file, const json_value_t *value)
{
    if (!value || value->type == JSON_NULL)
        fputs("-", file);
    else if (value->type == JSON_BOOL)
        fputs(value->boolean ? "yes" : "no", file);
    else if (value->type == JSON_NUMBER)
        fprintf(file, "%.9g", value->number);
    else if (value->type == JSON_STRING)
        fputs(value->string, file);
    else
        for (const json_value_t *v = value->first; v; v = v->next) {
            write_value(file, v);
            fputs(v->next ? " " : "", file);
        }
}

/* In full, for free(); NULL: out of memory. */
static char *value_text(const json_value_t *value)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    write_value(file, value);
    if (!fclose(file))
        return text;
    free(text);
    return NULL;
}

/* Cut to what is shown, in one line. */
static void show_text(char shown[DIFF_TEXT], const char *text)
{
    snprintf(shown, DIFF_TEXT, "%s", text);
    for (char *p = shown; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
}

static int compare_text(diff_result_t *d, const char *name,
                        const json_value_t *before, const json_value_t *after)
{
    char *x = value_text(before), *y = value_text(after);
    int rc = x && y ? 0 : -1;
    if (!rc && strcmp(x, y) && d->nenvironment < DIFF_ENVIRONMENT) {
        diff_setting_t *setting = &d->environment[d->nenvironment++];
        show_text(setting->name, name);
        show_text(setting->before, x);
        show_text(setting->after, y);
    }
    free(x);
    free(y);
    return rc;
}

static bool holds_objects(const json_value_t *value)
{
    return value && value->type == JSON_ARRAY && value->first &&
           value->first->type == JSON_OBJECT;
}

static int compare_value(diff_result_t *d, const char *name,
                         const json_value_t *before, const json_value_t *after);

/* All members that one or the other object has. */
static int compare_objects(diff_result_t *d, const char *name,
                           const json_value_t *before,
                           const json_value_t *after)
{
    char member[DIFF_TEXT];
    int rc = 0;
    for (const json_value_t *v = after->first; !rc && v; v = v->next) {
        snprintf(member, sizeof member, "%s.%s", name, v->key);
        rc = compare_value(d, member, json_get(before, v->key), v);
    }
    for (const json_value_t *v = before->first; !rc && v; v = v->next) {
        snprintf(member, sizeof member, "%s.%s", name, v->key);
        if (!json_get(after, v->key))
            rc = compare_value(d, member, v, NULL);
    }
    return rc;
}

static int compare_arrays(diff_result_t *d, const char *name,
                          const json_value_t *before, const json_value_t *after)
{
    char element[DIFF_TEXT];
    const json_value_t *x = before->first, *y = after->first;
    int rc = 0;
    for (unsigned i = 0; !rc && (x || y); i++) {
        snprintf(element, sizeof element, "%s[%u]", name, i);
        rc = compare_value(d, element, x, y);
        x = x ? x->next : NULL;
        y = y ? y->next : NULL;
    }
    return rc;
}

/* As deep as the reader lets files be nested. */
static int compare_value(diff_result_t *d, const char *name,
                         const json_value_t *before, const json_value_t *after)
{
    if (before && after && before->type == JSON_OBJECT &&
        after->type == JSON_OBJECT)
        return compare_objects(d, name, before, after);
    if (holds_objects(before) && holds_objects(after))
        return compare_arrays(d, name, before, after);
    return compare_text(d, name, before, after);
}

static int compare_environments(diff_result_t *d)
{
    static const char *const names[] = {
        "revision", "version", "date",    "partial",  "command", "options",
        "pinning",  "rails",   "machine", "settings", "notes"};
    int rc = 0;
    for (unsigned i = 0; !rc && i < sizeof names / sizeof *names; i++)
        rc = compare_value(d, names[i], json_get(d->before.json, names[i]),
                           json_get(d->after.json, names[i]));
    return rc;
}

int diff_compare(diff_result_t *d)
{
    d->simulated = simulated(&d->before) && simulated(&d->after);
    int rc = compare_series(d);
    return rc ? rc : compare_environments(d);
}

void diff_free(diff_result_t *d)
{
    record_free(&d->before);
    record_free(&d->after);
    free(d->points);
}

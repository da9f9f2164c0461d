/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/report.h"
#include "result_read.h"

typedef struct reading {
    record_t *record;
    const json_value_t *configurations;
    char *error;
    unsigned size;
} reading_t;

__attribute__((format(printf, 2, 3))) static int wrong(reading_t *r,
                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->error, r->size, format, args);
    va_end(args);
    return -1;
}

/* Names go into tables and CSV files as they are. */
static bool is_text(const char *text)
{
    if (!text)
        return false;
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || strchr(",\"'\x7f", *text))
            return false;
    return true;
}

static bool is_name(const char *text)
{
    return is_text(text) && !strchr(text, ' ');
}

static unsigned count_members(const json_value_t *parent)
{
    unsigned count = 0;
    for (const json_value_t *v = parent->first; v; v = v->next)
        count++;
    return count;
}

/* A member that must be an array. */
static const json_value_t *get_array(const json_value_t *object,
                                     const char *key)
{
    const json_value_t *value = json_get(object, key);
    return value && value->type == JSON_ARRAY ? value : NULL;
}

static int read_repeat(record_series_t *s, const json_value_t *repeat,
                       double messages)
{
    double ns = json_get_number(repeat, "ns", 0);
    double iterations = json_get_number(repeat, "iterations", 0);
    double bytes = json_get_number(repeat, "bytes", -1);
    if (ns < 1 || iterations < 1 || bytes < 0)
        return -1;
    s->us[s->count] = ns / 1e3 / (iterations * messages);
    s->MBps[s->count] = bytes * 1e3 / ns;
    s->count++;
    return 0;
}

static int read_series(reading_t *r, record_series_t *s,
                       const json_value_t *loop)
{
    const json_value_t *repeats = get_array(loop, "repeats");
    double messages = json_get_number(loop, "messages_per_iteration", 0);
    unsigned count = repeats ? count_members(repeats) : 0;
    if (messages < 1 || !count || count > STATS_MAX)
        return wrong(r,
                     "%s of %llu bytes: messages_per_iteration or repeats are "
                     "missing or out of range",
                     s->loop, (unsigned long long)s->bytes);
    s->us = calloc(count, sizeof *s->us);
    s->MBps = calloc(count, sizeof *s->MBps);
    if (!s->us || !s->MBps)
        return wrong(r, "out of memory");
    for (const json_value_t *v = repeats->first; v; v = v->next)
        if (read_repeat(s, v, messages))
            return wrong(r, "%s of %llu bytes: malformed repeat", s->loop,
                         (unsigned long long)s->bytes);
    return 0;
}

static const json_value_t *find_configuration(const reading_t *r, double index)
{
    for (const json_value_t *v = r->configurations->first; v; v = v->next)
        if (json_get_number(v, "index", -1) == index)
            return v;
    return NULL;
}

/* A cell: every member that has repeats is a loop. */
static int read_cell(reading_t *r, const json_value_t *cell)
{
    double bytes = json_get_number(cell, "bytes", -1);
    const json_value_t *setup =
        find_configuration(r, json_get_number(cell, "configuration", -1));
    record_series_t common = {
        .rails = json_get_string(setup, "rails", NULL),
        .engine = json_get_string(setup, "engine", NULL),
        .policy = json_get_string(setup, "policy", NULL),
        .team = json_get_string(setup, "team", ""),
        .algorithm = json_get_string(setup, "algorithm", ""),
        .variant = json_get_string(setup, "variant", ""),
        .fabric = json_get_string(setup, "fabric", ""),
    };
    if (!(bytes >= 0 && bytes <= (double)SIZES_LIMIT) ||
        !is_name(common.rails) || !is_name(common.engine) ||
        !is_name(common.policy) || !is_name(common.team) ||
        !is_name(common.algorithm) || !is_name(common.variant) ||
        !is_text(common.fabric))
        return wrong(r, "a result without bytes or a known configuration");
    common.bytes = (uint64_t)bytes;
    for (const json_value_t *v = cell->first; v; v = v->next) {
        if (!json_get(v, "repeats"))
            continue;
        if (!is_name(v->key))
            return wrong(r, "a loop with an odd name");
        if (r->record->count == RECORD_SERIES_MAX)
            return wrong(r, "more than %d series", RECORD_SERIES_MAX);
        record_series_t *s = &r->record->series[r->record->count++];
        *s = common;
        s->loop = v->key;
        if (read_series(r, s, v))
            return -1;
    }
    return 0;
}

static int read_record(reading_t *r)
{
    record_t *record = r->record;
    const char *schema = json_get_string(record->json, "schema", "");
    const json_value_t *results = get_array(record->json, "results");
    r->configurations = get_array(record->json, "configurations");
    record->test = json_get_string(record->json, "test", NULL);
    if (strcmp(schema, REPORT_SCHEMA))
        return wrong(r, "not a result of railbench");
    record->sampling.repeat = (uint64_t)fmax(
        0, fmin(STATS_MAX, json_get_number(json_get(record->json, "options"),
                                           "repeat", 0)));
    if (!is_name(record->test) || !results || !r->configurations)
        return wrong(
            r, "not a result of bw, bibw, lat, breakdown or a collective");
    record->series = calloc(RECORD_SERIES_MAX, sizeof *record->series);
    if (!record->series)
        return wrong(r, "out of memory");
    for (const json_value_t *v = results->first; v; v = v->next)
        if (read_cell(r, v))
            return -1;
    return 0;
}

int record_load(record_t *record, const char *path, char *error, unsigned size)
{
    json_error_t where;
    reading_t r = {.record = record, .error = error, .size = size};
    *record = (record_t){.path = path};
    record->json = json_load(path, &where);
    if (record->json)
        return read_record(&r);
    if (where.line)
        return wrong(&r, "malformed JSON in line %u, column %u: %s", where.line,
                     where.column, where.text);
    return wrong(&r, "%s", where.text);
}

static bool same_series(const record_series_t *a, const record_series_t *b)
{
    return a->bytes == b->bytes && !strcmp(a->engine, b->engine) &&
           !strcmp(a->policy, b->policy) && !strcmp(a->rails, b->rails) &&
           !strcmp(a->team, b->team) && !strcmp(a->loop, b->loop) &&
           !strcmp(a->algorithm, b->algorithm) &&
           !strcmp(a->variant, b->variant);
}

const record_series_t *record_find(const record_t *record,
                                   const record_series_t *like)
{
    for (unsigned i = 0; i < record->count; i++)
        if (same_series(&record->series[i], like))
            return &record->series[i];
    return NULL;
}

/* The median of all repeats' values. */
static double median(double *values, unsigned count)
{
    return stats_summary(values, count).median;
}

/* Room for a value of each launch; the repeats are given up. */
static int by_launch(record_t *record, unsigned launches)
{
    for (unsigned i = 0; i < record->count; i++) {
        record_series_t *s = &record->series[i];
        double us = median(s->us, s->count), MBps = median(s->MBps, s->count);
        free(s->us);
        free(s->MBps);
        s->us = calloc(launches, sizeof *s->us);
        s->MBps = calloc(launches, sizeof *s->MBps);
        s->count = 0;
        if (!s->us || !s->MBps)
            return -1;
        s->us[s->count] = us;
        s->MBps[s->count++] = MBps;
    }
    record->launches = 1;
    record->sampling = (sampling_t){.repeat = launches};
    return 0;
}

/* Adds the values of another launch to the points that it has, too. */
static void add_launch(record_t *record, const record_t *launch)
{
    for (unsigned i = 0; i < record->count; i++) {
        record_series_t *s = &record->series[i];
        const record_series_t *other = record_find(launch, s);
        if (!other || s->count < record->launches)
            continue;
        s->us[s->count] = median(other->us, other->count);
        s->MBps[s->count++] = median(other->MBps, other->count);
    }
    record->launches++;
}

/* Drops points that some launch hasn't. */
static void drop_incomplete(record_t *record)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < record->count; i++) {
        record_series_t *s = &record->series[i];
        if (s->count == record->launches) {
            record->series[kept++] = *s;
            continue;
        }
        record->dropped++;
        free(s->us);
        free(s->MBps);
    }
    record->count = kept;
}

/* Points of the last one of the launches that none before it has. */
static unsigned unheard_of(const record_t *first, const record_t *others,
                           unsigned last)
{
    unsigned count = 0;
    for (unsigned i = 0; i < others[last].count; i++) {
        const record_series_t *s = &others[last].series[i];
        bool known = record_find(first, s);
        for (unsigned k = 0; !known && k < last; k++)
            known = record_find(&others[k], s);
        count += !known;
    }
    return count;
}

static int load_launch(record_t *record, record_t *launch, const char *path,
                       char *error, unsigned size)
{
    reading_t r = {.record = record, .error = error, .size = size};
    char why[128];
    if (record_load(launch, path, why, sizeof why))
        return wrong(&r, "%.64s: %s", path, why);
    if (strcmp(launch->test, record->test))
        return wrong(&r,
                     "%.64s is of test '%.32s', and those before it of "
                     "'%.32s'",
                     path, launch->test, record->test);
    add_launch(record, launch);
    return 0;
}

int record_load_all(record_t *record, const char *const *paths, unsigned count,
                    char *error, unsigned size)
{
    reading_t r = {.record = record, .error = error, .size = size};
    int rc = record_load(record, paths[0], error, size);
    if (rc || count < 2)
        return rc;
    record_t *others = calloc(count - 1, sizeof *others);
    if (!others || by_launch(record, count))
        rc = wrong(&r, "out of memory");
    for (unsigned i = 0; !rc && i < count - 1; i++) {
        rc = load_launch(record, &others[i], paths[i + 1], error, size);
        record->dropped += unheard_of(record, others, i);
    }
    drop_incomplete(record);
    for (unsigned i = 0; others && i < count - 1; i++)
        record_free(&others[i]);
    free(others);
    return rc;
}

void record_free(record_t *record)
{
    for (unsigned i = 0; record->series && i < record->count; i++) {
        free(record->series[i].us);
        free(record->series[i].MBps);
    }
    free(record->series);
    json_release(record->json);
}

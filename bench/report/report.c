/* SPDX-License-Identifier: BSD-3-Clause */
/* The three writers: table, CSV and JSON of any result. */
#include <string.h>

#include "report.h"

row_t row_csv(FILE *file, row_pass_t pass, const report_t *of)
{
    return (row_t){.of = of, .file = file, .pass = pass};
}

void row_csv_end(row_t *row)
{
    if (row->pass == ROW_NAMES)
        fputs(",date,command\n", row->file);
    else
        report_csv_origin(row->file, row->of->machine, row->of->opts);
}

static bool has_row(const report_t *of, unsigned index)
{
    return !of->has_row || of->has_row(of->result, index);
}

static void csv_row(FILE *file, const report_t *of, row_pass_t pass,
                    unsigned index)
{
    row_t row = row_csv(file, pass, of);
    of->columns(&row, of->result, index);
    row_csv_end(&row);
}

static void csv(FILE *file, const report_t *of)
{
    csv_row(file, of, ROW_NAMES, 0);
    for (unsigned i = 0; i < of->nrows; i++)
        if (has_row(of, i))
            csv_row(file, of, ROW_CSV, i);
}

static void json(FILE *file, const report_t *of)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    json_string(j, "schema", REPORT_SCHEMA);
    json_string(j, "test", of->test);
    json_string(j, "version", DRAIL_VERSION);
    json_string(j, "revision", of->machine->revision);
    json_string(j, "date", of->machine->date);
    of->json(j, of);
    json_end_object(j);
}

int report_write(FILE *file, format_t format, const report_t *of)
{
    if (format == FORMAT_TABLE)
        of->table(file, of);
    else if (format == FORMAT_JSON)
        json(file, of);
    else if (format == FORMAT_HISTOGRAM)
        of->histogram(file, of);
    else
        csv(file, of);
    return 0;
}

void report_rows(FILE *file, const report_t *of, unsigned group)
{
    row_t row = {.of = of, .file = file, .pass = ROW_TITLES};
    of->columns(&row, of->result, 0);
    fputc('\n', file);
    row.pass = ROW_TABLE;
    for (unsigned i = 0; i < of->nrows; i++) {
        if (!has_row(of, i))
            continue;
        if (i && group && i % group == 0)
            fputc('\n', file);
        of->columns(&row, of->result, i);
        fputc('\n', file);
    }
}

void report_json_rows(json_t *j, const char *key, const report_t *of,
                      bool compact)
{
    json_array(j, key);
    for (unsigned i = 0; i < of->nrows; i++) {
        row_t row = {.of = of, .json = j, .pass = ROW_JSON};
        if (!has_row(of, i))
            continue;
        if (compact)
            json_row_object(j, NULL);
        else
            json_object(j, NULL);
        of->columns(&row, of->result, i);
        json_end_object(j);
    }
    json_end_array(j);
}

int report_width(const char *title, unsigned count,
                 void (*label)(const void *, unsigned, char *, size_t),
                 const void *result)
{
    size_t widest = strlen(title);
    for (unsigned i = 0; i < count; i++) {
        char text[REPORT_LABEL];
        label(result, i, text, sizeof text);
        if (strlen(text) > widest)
            widest = strlen(text);
    }
    return (int)widest;
}

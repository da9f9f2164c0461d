/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of results: a table for people, CSV, JSON. Each test says what its
 * rows are (report_t) and adds what only it has; the rest is shared.
 *
 * row.h: the columns of a row; report.c: the three writers; head.c: the lines
 * above a table; json_parts.c: members of JSON objects; origin.c: date and
 * command; histogram.c: buckets of single times.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <limits.h>
#include <stdio.h>

#include "json.h"
#include "row.h"
#include "bench/pair/result.h"

/** Of every JSON file of railbench; changes when old readers would err. */
#define REPORT_SCHEMA "dapl_rail.railbench/1"

/** Most characters of a label in a table. */
#define REPORT_LABEL 128
/** ... of the names of all rails, or fabrics. */
#define REPORT_RAILS (DRAIL_MAX_RAILS * DRAIL_NAME_MAX)

/** A result to be written. */
typedef struct report {
    const void *result;
    const char *test;
    const machine_t *machine;
    const options_t *opts;
    unsigned nrows;
    /** Is this row measured? NULL: all are. */
    bool (*has_row)(const void *result, unsigned index);
    /** The columns of a row, of row 0 also where there is none: then only their
     *  names are asked for. */
    void (*columns)(row_t *row, const void *result, unsigned index);
    int width[2]; /**< of columns of labels, for columns to use */
    /** The whole table. */
    void (*table)(FILE *file, const struct report *report);
    /** Members of the JSON after its identity. */
    void (*json)(json_t *json, const struct report *report);
    /** CSV of all times; NULL: of a test without --histogram. */
    void (*histogram)(FILE *file, const struct report *report);
} report_t;

/** Writes the result. Errors of writing stay in the FILE. @return 0. */
int report_write(FILE *file, format_t format, const report_t *report);
/** Column titles and rows; a blank line before each row whose index is a
 *  multiple of @p group, 0: none. */
void report_rows(FILE *file, const report_t *report, unsigned group);
/** An array of objects with the rows' columns, each in a line if @p compact. */
void report_json_rows(json_t *json, const char *key, const report_t *report,
                      bool compact);
/** Width of a column of labels: the longest of @p count, or the title. */
int report_width(const char *title, unsigned count,
                 void (*label)(const void *result, unsigned index, char *text,
                               size_t size),
                 const void *result);

/* --------------------------------------------------- above a table: head.c */

/** Two lines: test, version, revision, machine; date and command. */
void report_title(FILE *file, const report_t *report);
/** "# rails: …", a line that the caller ends. */
void report_rails(FILE *file, const options_t *opts,
                  const drail_rail_info_t *rails);
/** A line for each. */
void report_notes(FILE *file, const notes_t *notes);
/** A note, if the run was ended early. */
void report_partial(FILE *file, bool partial);
/** A note, if there are too few repeats for an interval. */
void report_few(FILE *file, const options_t *opts);
/** "[95 % confidence interval]": what stands between [ and ]. */
const char *report_interval(const options_t *opts);
/** The same without brackets: what lo and hi of a summary are. */
const char *report_spread(const options_t *opts);
/* ------------------------------------- columns that several tests have: row.c
 */

/** CSV: test, fabric, rails, engine, policy. */
void row_setup(row_t *row, const drail_rail_info_t *rails,
               const setup_t *setup);
/** ... then algorithm, ranks, ppn, ports, bytes. */
void row_common(row_t *row, const drail_rail_info_t *rails,
                const setup_t *setup, const char *algorithm, unsigned ports,
                uint64_t bytes);
/** Team of engine threaded, "" of others. */
const char *report_team(const setup_t *setup);
/** CSV: yes, no, or nothing. */
void row_validity(row_t *row, validity_t validity);
/** Ends a row of the table. */
void row_cell_validity(row_t *row, int gap, validity_t validity);

/* Histograms: a CSV row for each bucket that holds a time. */

typedef struct bucket {
    const hist_t *hist;
    double scale;   /**< of the nanoseconds that the histogram holds */
    unsigned index; /**< of the bucket; begin with BUCKET_NONE */
    uint64_t seen;  /**< values in this one and those below */
} bucket_t;
#define BUCKET_NONE UINT_MAX
/** Goes on to the next bucket that is not empty; false: there is none. */
bool bucket_next(bucket_t *bucket);
/** CSV: lowest_us, highest_us, count, cumulated. */
void row_bucket(row_t *row, const bucket_t *bucket);

/** Begins a row of a CSV, or that of its names. */
row_t row_csv(FILE *file, row_pass_t pass, const report_t *report);
/** Ends it with date and command. */
void row_csv_end(row_t *row);

/* ------------------------------------------ members of objects: json_parts.c
 */

/** The array "command". */
void report_json_command(json_t *json, const options_t *opts);
/** The command; the object "options" with the ranks, which the caller ends. */
void report_json_options_begin(json_t *json, const options_t *opts);
/** How often and how long is measured. */
void report_json_repetition(json_t *json, const options_t *opts);
void report_json_validity(json_t *json, validity_t validity);
void report_json_machine(json_t *json, const machine_t *machine);
void report_json_rails(json_t *json, const drail_rail_info_t *rails,
                       unsigned count);
/** Every setting of the library as the run has seen it. */
void report_json_settings(json_t *json);
/** Where each of @p ranks runs. */
void report_json_pinning(json_t *json, const pinning_t *pinning,
                         unsigned ranks);
void report_json_notes(json_t *json, const notes_t *notes);
void report_json_summary(json_t *json, const char *key,
                         const summary_t *summary);
/** @p unit: of what is counted. */
void report_json_histogram(json_t *json, const char *unit, const hist_t *hist);
/** The setup's engine, team and policy. */
void report_json_engine(json_t *json, const setup_t *setup);
/** Names of the rails that the setup uses, and their fabrics. */
void report_json_setup_rails(json_t *json, const options_t *opts,
                             const drail_rail_info_t *rails,
                             const setup_t *setup);

/* ------------------------------------------------------------------ origin.c
 */

/** A word as a shell takes it, always in one line of UTF-8. */
void report_argument(FILE *file, const char *text);
/** The text, quoted where it needs to be (RFC 4180); what is not UTF-8 becomes
 *  U+FFFD. */
void report_csv_quoted(FILE *file, const char *text);
/** A line: date and command. */
void report_origin(FILE *file, const machine_t *machine, const options_t *opts);
/** The columns of the same, which end each row. A simulated run has no date:
 *  its output is the same in every run. */
void report_csv_origin(FILE *file, const machine_t *machine,
                       const options_t *opts);

#endif

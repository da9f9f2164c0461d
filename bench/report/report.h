/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: one function per format, all from the same result. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "json.h"
#include "bench/pair/result.h"
#include "bench/stats/hist.h"

/** Writes the whole result_t. Errors of writing stay in the FILE. */
void report_write(FILE *file, format_t format, const void *result);

void report_table(FILE *file, const result_t *result);
void report_csv(FILE *file, const result_t *result);
void report_json(FILE *file, const result_t *result);
/** CSV: a row for each bucket of each point that holds a time. */
void report_histogram(FILE *file, const result_t *result);

/** Histograms of all tests: a row for each bucket that holds a time. @p point
 *  writes what comes before lowest_us, highest_us (times @p scale, of
 *  nanoseconds), count and cumulated, @p rest what comes behind. */
typedef struct buckets {
    const hist_t *hist;
    double scale;
    void (*point)(FILE *file, const void *of);
    void (*rest)(FILE *file, const void *of);
    const void *of;
} buckets_t;
void report_buckets(FILE *file, const buckets_t *buckets);
#define REPORT_BUCKETS "lowest_us,highest_us,count,cumulated"

/** Of every JSON file of railbench; changes when old readers would err. */
#define REPORT_SCHEMA "dapl_rail.railbench/1"

/* Parts that the reports of all tests share. */

/** Schema, test, version, revision, date. */
void report_json_identity(json_t *json, const char *test,
                          const machine_t *machine);
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
/** Two lines: test, version, revision, machine; date and command. */
void report_title(FILE *file, const char *test, const machine_t *machine,
                  const options_t *opts);
/** What reports have between [ and ] beside a median. */
const char *report_interval(const options_t *opts);
/** A note, if there are too few repeats for an interval. */
void report_few(FILE *file, const options_t *opts);
/** The same, of what is always there: what summary_t's lo and hi are. */
const char *report_spread(const options_t *opts);
/** A line for each. */
void report_notes(FILE *file, const notes_t *notes);
/** A number of 4 significant digits, right-aligned after a blank; "-" where
 *  there is none. */
void report_number(FILE *file, int width, double value);
/** A CSV column: a comma and the number, or nothing where there is none. */
void report_csv_number(FILE *file, double value);
/** ... the text, quoted where it needs to be (RFC 4180); what is
 *  not UTF-8 becomes U+FFFD. */
void report_csv_text(FILE *file, const char *text);

/** The first columns of the CSV of messages and collectives. */
#define REPORT_CSV_COMMON                                                      \
    "test,fabric,rails,engine,policy,algorithm,ranks,ppn,ports,bytes,"         \
    "iterations,latency_us,latency_us_p99,latency_us_lo,latency_us_hi,"        \
    "bandwidth_MBps,bandwidth_MBps_lo,bandwidth_MBps_hi,"

/* origin.c: the last columns of every test's CSV, date and command, and the
 * line of a table that says them. */

/** A word as a shell takes it, and always in one line of UTF-8. */
void report_argument(FILE *file, const char *text);
/** When the run began; "" of a simulated one, whose output is the same in
 *  every run. */
const char *report_date(const machine_t *machine);
/** The header row: @p columns, and the last ones. */
void report_csv_header(FILE *file, const char *columns);
/** Ends a row. */
void report_csv_origin(FILE *file, const machine_t *machine,
                       const options_t *opts);
/** A line. */
void report_origin(FILE *file, const machine_t *machine, const options_t *opts);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A row of results. A test describes its columns once, in a function that names
 * each of them with its value; the three writers call that function to write
 * the titles and the rows of the table, the CSV and the JSON.
 */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/options/plan.h"
#include "bench/report/json.h"
#include "bench/stats/stats.h"

/** What a call of the columns writes. */
typedef enum row_pass {
    ROW_TITLES, /**< of the table */
    ROW_TABLE,
    ROW_NAMES, /**< of the CSV's columns */
    ROW_CSV,
    ROW_JSON /**< members of the object that is open */
} row_pass_t;

typedef struct row {
    const struct report *of;
    FILE *file;
    json_t *json; /**< of ROW_JSON only */
    row_pass_t pass;
    bool begun;  /**< CSV: a column has been written */
    bool absent; /**< row_has(row, false) was called last */
} row_t;

/** Formats that a column is in. */
enum { IN_CSV = 1, IN_JSON = 2, IN_BOTH = 3 };

/* Columns of the CSV and members of the JSON. NaN is nothing in the CSV, null
 * in the JSON. */

/** Do the columns that follow have a value in this row? If not, they are empty
 *  in the CSV and left out of the JSON, until the next call. */
void row_has(row_t *row, bool value);

void row_text(row_t *row, unsigned in, const char *name, const char *value);
void row_count(row_t *row, unsigned in, const char *name, uint64_t value);
void row_number(row_t *row, unsigned in, const char *name, double value);
/** CSV: yes or no. */
void row_flag(row_t *row, unsigned in, const char *name, bool value);
/** CSV: NAME, NAME_lo, NAME_hi; JSON: an object. */
void row_summary(row_t *row, unsigned in, const char *name,
                 const summary_t *value);
/** CSV: NAME, NAME_p99, NAME_lo, NAME_hi. */
void row_tail(row_t *row, const char *name, const summary_t *value, double p99);
/** CSV: the median; JSON: the whole summary. */
void row_median(row_t *row, const char *name, const summary_t *value);

/* Columns of the table. */

/** @p gap blanks, then @p width characters, from the left if it is negative. */
void row_cell(row_t *row, int gap, int width, const char *title,
              const char *value);
void row_cell_count(row_t *row, int gap, int width, const char *title,
                    uint64_t value);
/** Four significant digits, "-" for NaN. */
void row_cell_number(row_t *row, int width, const char *title, double value);
/** The median, and where it lies between "[lo" and "hi]". */
void row_cell_summary(row_t *row, int width, const char *title,
                      const summary_t *value);
/** What ends the row, if anything. */
void row_cell_end(row_t *row, const char *text);

/** A table's number of four significant digits, right-aligned after a blank;
 *  "-" for NaN. */
void report_number(FILE *file, int width, double value);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison of two results by `railbench diff`. */
#ifndef BENCH_DIFF_RESULT_H
#define BENCH_DIFF_RESULT_H

#include <stdio.h>

#include "bench/report/machine.h"
#include "bench/options/options.h"
#include "rank_test.h"
#include "result_read.h"
#include "bench/stats/stats.h"

/** A difference counts when at most DIFF_LEVEL of all that count are chance,
 *  and the medians differ by at least DIFF_RATIO. There is no chance in
 *  simulated results: ranges of their repeats must not overlap. */
#define DIFF_LEVEL 0.05
#define DIFF_RATIO 0.02

/** Most differences of the environments, and the longest text shown. */
#define DIFF_ENVIRONMENT 128
#define DIFF_TEXT        256

typedef enum verdict { VERDICT_SAME, VERDICT_FASTER, VERDICT_SLOWER } verdict_t;

/** A point that both files have. */
typedef struct diff_point {
    const record_series_t *series; /**< of the new file: what it is */
    const record_series_t *old;    /**< the same of the old one */
    bool bandwidth;                /**< MB/s, else us: lower is faster */
    summary_t before, after;
    double ratio; /**< median after over before */
    rank_test_t rank;
    double q; /**< p, corrected for the number of points */
    verdict_t verdict;
} diff_point_t;

typedef struct diff_setting {
    char name[DIFF_TEXT], before[DIFF_TEXT], after[DIFF_TEXT];
} diff_setting_t;

typedef struct diff_result {
    const options_t *opts;
    machine_t machine;
    record_t before, after;
    bool simulated; /**< both, so that p and q have no meaning: NaN */
    diff_point_t *points;
    unsigned npoints;
    unsigned count[3];                /**< points by verdict */
    unsigned only_before, only_after; /**< series without a counterpart */
    diff_setting_t environment[DIFF_ENVIRONMENT];
    unsigned nenvironment;
} diff_result_t;

/** Compares the two records, which are loaded. @return 0 or -1: no memory. */
int diff_compare(diff_result_t *diff);
void diff_free(diff_result_t *diff);

const char *verdict_name(verdict_t verdict);

/** Writes a diff_result_t. Errors of writing stay in the FILE.
 *  @return 0. */
int diff_report(FILE *file, format_t format, const void *result);

#endif

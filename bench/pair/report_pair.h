/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a test between two ranks. */
#ifndef BENCH_REPORT_PAIR_H
#define BENCH_REPORT_PAIR_H

#include "bench/report/report.h"

/** Writes a result_t. Errors of writing stay in the FILE.
 *  @return 0. */
int pair_report(FILE *file, format_t format, const void *result);

/** Its JSON, and the file of --histogram. */
void pair_json(json_t *json, const report_t *report);
void pair_histogram(FILE *file, const report_t *report);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: one function per format, all from the same result. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "result.h"

/** Writes the whole result. Errors of writing stay in the FILE. */
void report_write(FILE *file, format_t format, const result_t *result);

void report_table(FILE *file, const result_t *result);
void report_csv(FILE *file, const result_t *result);
void report_json(FILE *file, const result_t *result);

#endif

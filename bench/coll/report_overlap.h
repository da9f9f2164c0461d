/* SPDX-License-Identifier: BSD-3-Clause */
/* What table, CSV and JSON of a collective say of --overlap. */
#ifndef BENCH_COLL_REPORT_OVERLAP_H
#define BENCH_COLL_REPORT_OVERLAP_H

#include <stdio.h>

#include "result.h"
#include "bench/report/json.h"

void overlap_table_head(FILE *file, const options_t *opts);
void overlap_table_names(FILE *file);
void overlap_table_row(FILE *file, const coll_figures_t *figures);

/** Columns that are empty without --overlap. */
extern const char overlap_csv_header[];
void overlap_csv_row(FILE *file, const options_t *opts,
                     const coll_figures_t *figures);

/** @p calls: timed of each kind. */
void overlap_json(json_t *j, const options_t *opts,
                  const coll_figures_t *figures, unsigned calls);

#endif

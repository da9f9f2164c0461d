/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_overlap.h"
#include "bench/report/report.h"

void overlap_table_head(FILE *file, const options_t *opts)
{
    fprintf(file,
            "# pure us: start and wait; total: the same with computation in "
            "between for as long, which looks %llu times; medians over calls, "
            "means over ranks; overlap%%: 100 (1 - (total - compute) / pure), "
            "median %s\n",
            (unsigned long long)opts->overlap_tests, report_interval(opts));
}

void overlap_table_names(FILE *file)
{
    fprintf(file, " %9s %9s %9s %9s %9s %9s", "pure us", "compute", "total",
            "overlap%", "[lo", "hi]");
}

void overlap_table_row(FILE *file, const coll_figures_t *figures)
{
    const summary_t *percent = &figures->overlap[OVERLAP_PERCENT];
    for (unsigned i = 0; i < OVERLAP_FIGURES; i++)
        report_number(file, 9, figures->overlap[i].median);
    report_number(file, 9, percent->lo);
    report_number(file, 9, percent->hi);
}

const char overlap_csv_header[] =
    ",overlap_tests,pure_us,pure_us_lo,pure_us_hi,compute_us,compute_us_lo,"
    "compute_us_hi,total_us,total_us_lo,total_us_hi,overlap_pct,overlap_pct_lo,"
    "overlap_pct_hi";

void overlap_csv_row(FILE *file, const options_t *opts,
                     const coll_figures_t *figures)
{
    fputc(',', file);
    if (opts->overlap)
        fprintf(file, "%llu", (unsigned long long)opts->overlap_tests);
    for (unsigned i = 0; i < OVERLAP_FIGURES; i++) {
        report_csv_number(file, figures->overlap[i].median);
        report_csv_number(file, figures->overlap[i].lo);
        report_csv_number(file, figures->overlap[i].hi);
    }
}

void overlap_json(json_t *j, const options_t *opts,
                  const coll_figures_t *figures, unsigned calls)
{
    static const char *const names[] = {OVERLAP_NAMES};
    json_object(j, "overlap");
    json_uint(j, "tests", opts->overlap_tests);
    json_uint(j, "calls", calls);
    for (unsigned i = 0; i < OVERLAP_FIGURES; i++)
        report_json_summary(j, names[i], &figures->overlap[i]);
    json_end_object(j);
}

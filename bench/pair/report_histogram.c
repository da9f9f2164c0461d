/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each time was taken: CSV of the histograms behind p50 … p999. */
#include "report_pair.h"

static void columns(row_t *row, const result_t *r, const cell_t *cell,
                    const loop_t *loop, const bucket_t *bucket)
{
    const setup_t *setup = &r->plan->setups[cell->setup];
    char label[REPORT_LABEL];
    setup_label(setup, r->opts, label, sizeof label);
    row_setup(row, r->rails, setup);
    row_text(row, IN_CSV, "team", report_team(setup));
    row_text(row, IN_CSV, "wait",
             setup_waits(setup) ? drail_waiting_name(setup->waiting) : "");
    row_text(row, IN_CSV, "notify_by", drail_notify_by_name(setup->notify_by));
    row_count(row, IN_CSV, "bytes", cell->bytes);
    row_text(row, IN_CSV, "loop", loop->name);
    row_text(row, IN_CSV, "point", label);
    row_bucket(row, bucket);
    row_count(row, IN_CSV, "messages", loop_messages(loop, r->opts->batch));
    row_text(row, IN_CSV, "op", op_name(setup->op));
    row_csv_end(row);
}

static void histogram(FILE *file, const report_t *of, const cell_t *cell,
                      unsigned l)
{
    const result_t *r = of->result;
    const loop_t *loop = r->test->loops[l];
    bucket_t b = {.hist = cell->series[l].samples,
                  .scale = 1e-3 / (double)loop_messages(loop, r->opts->batch),
                  .index = BUCKET_NONE};
    while (bucket_next(&b)) {
        row_t row = row_csv(file, ROW_CSV, of);
        columns(&row, r, cell, loop, &b);
    }
}

void pair_histogram(FILE *file, const report_t *of)
{
    const result_t *r = of->result;
    row_t names = row_csv(file, ROW_NAMES, of);
    columns(&names, r, r->cells, r->test->loops[0], &(bucket_t){0});
    for (unsigned i = 0; i < r->ncells; i++)
        for (unsigned l = 0; l < r->test->nloops; l++)
            if (cell_measured(r, &r->cells[i]))
                histogram(file, of, &r->cells[i], l);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* How long single calls took, and how many of them: the file of --histogram. */
#include "bench/report/report.h"
#include "result.h"

static void columns(row_t *row, const coll_result_t *r, const coll_cell_t *cell,
                    const bucket_t *bucket)
{
    const coll_setup_t *setup = coll_setup_of(r, cell);
    row_common(row, r->rails, &setup->rail, coll_setup_algorithm(setup),
               coll_ports_of(r, cell), cell->bytes);
    row_text(row, IN_CSV, "call", coll_setup_call(setup));
    row_bucket(row, bucket);
    row_csv_end(row);
}

void coll_histogram(FILE *file, const report_t *of)
{
    const coll_result_t *r = of->result;
    row_t names = row_csv(file, ROW_NAMES, of);
    columns(&names, r, r->cells, &(bucket_t){0});
    for (unsigned i = 0; i < r->ncells; i++) {
        bucket_t b = {.hist = coll_each_of(r, &r->cells[i]),
                      .scale = 1e-3,
                      .index = BUCKET_NONE};
        while (r->cells[i].each.count && bucket_next(&b)) {
            row_t row = row_csv(file, ROW_CSV, of);
            columns(&row, r, &r->cells[i], &b);
        }
    }
}

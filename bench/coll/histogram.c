/* SPDX-License-Identifier: BSD-3-Clause */
/* How long single calls took, and how many of them: the file of --histogram. */
#include "result.h"
#include "bench/report/report.h"

static const char header[] =
    "test,fabric,rails,engine,policy,algorithm,ranks,ppn,ports,bytes,"
    "call," REPORT_BUCKETS;

typedef struct point {
    const coll_result_t *r;
    const coll_cell_t *cell;
} point_t;

static void point(FILE *file, const void *of)
{
    const point_t *p = of;
    const coll_result_t *r = p->r;
    const coll_setup_t *setup = coll_setup_of(r, p->cell);
    char rails[DRAIL_MAX_RAILS * DRAIL_NAME_MAX], fabric[sizeof rails];
    setup_rails(&setup->rail, r->opts, rails, sizeof rails);
    rails_fabric(r->rails, r->opts->nrails, &setup->rail, fabric,
                 sizeof fabric);
    fprintf(file, "%s,%s,%s,%s,%s,%s,%llu,%llu,%u,%llu,%s", r->test->name,
            fabric, rails, drail_engine_name(setup->rail.engine),
            drail_policy_name(setup->rail.policy), coll_setup_algorithm(setup),
            (unsigned long long)r->opts->ranks,
            (unsigned long long)options_ppn(r->opts), coll_ports_of(r, p->cell),
            (unsigned long long)p->cell->bytes, coll_setup_call(setup));
}

static void rest(FILE *file, const void *of)
{
    const point_t *p = of;
    report_csv_origin(file, &p->r->machine, p->r->opts);
}

void coll_histogram(FILE *file, const coll_result_t *r)
{
    report_csv_header(file, header);
    for (unsigned i = 0; i < r->ncells; i++) {
        const point_t of = {r, &r->cells[i]};
        report_buckets(file, &(buckets_t){.hist = coll_each_of(r, of.cell),
                                          .scale = 1e-3,
                                          .point = point,
                                          .rest = rest,
                                          .of = &of});
    }
}

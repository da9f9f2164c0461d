/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each time was taken: CSV of the histograms behind p50 … p999. */
#include "bench/report/report.h"

void report_buckets(FILE *file, const buckets_t *b)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        if (!b->hist->buckets[i])
            continue;
        seen += b->hist->buckets[i];
        b->point(file, b->of);
        report_csv_number(file, b->scale * (double)hist_lowest(i));
        report_csv_number(file, b->scale * (double)(hist_lowest(i + 1) - 1));
        fprintf(file, ",%llu", (unsigned long long)b->hist->buckets[i]);
        report_csv_number(file, (double)seen / (double)b->hist->count);
        b->rest(file, b->of);
    }
}

static const char header[] =
    "test,fabric,rails,engine,policy,team,wait,notify_by,bytes,loop,"
    "point," REPORT_BUCKETS ",messages,op";

/* One loop of a cell. */
typedef struct point {
    const result_t *r;
    const cell_t *cell;
    const loop_t *loop;
} point_t;

/* The columns that tell a point from others. */
static void point(FILE *file, const void *of)
{
    const point_t *p = of;
    const result_t *r = p->r;
    const setup_t *setup = &r->plan->setups[p->cell->setup];
    char rails[DRAIL_MAX_RAILS * DRAIL_NAME_MAX], fabric[sizeof rails];
    char label[128];
    setup_rails(setup, r->opts, rails, sizeof rails);
    rails_fabric(r->rails, r->opts->nrails, setup, fabric, sizeof fabric);
    setup_label(setup, r->opts, label, sizeof label);
    fprintf(
        file, "%s,%s,%s,%s,%s,%s,%s,%s,%llu,%s", r->test->name, fabric, rails,
        drail_engine_name(setup->engine), drail_policy_name(setup->policy),
        setup->engine == DRAIL_ENGINE_THREADED ? drail_team_name(setup->team)
                                               : "",
        setup_waits(setup) ? drail_waiting_name(setup->waiting) : "",
        drail_notify_by_name(setup->notify_by),
        (unsigned long long)p->cell->bytes, p->loop->name);
    report_csv_text(file, label);
}

static uint64_t messages(const point_t *p)
{
    return loop_messages(p->loop, p->r->opts->batch);
}

static void rest(FILE *file, const void *of)
{
    const point_t *p = of;
    fprintf(file, ",%llu,%s", (unsigned long long)messages(p),
            op_name(p->r->plan->setups[p->cell->setup].op));
    report_csv_origin(file, &p->r->machine, p->r->opts);
}

static void histogram(FILE *file, const result_t *r, const cell_t *cell,
                      unsigned l)
{
    const point_t of = {r, cell, r->test->loops[l]};
    report_buckets(file, &(buckets_t){.hist = cell->series[l].samples,
                                      .scale = 1e-3 / (double)messages(&of),
                                      .point = point,
                                      .rest = rest,
                                      .of = &of});
}

void report_histogram(FILE *file, const result_t *r)
{
    report_csv_header(file, header);
    for (unsigned i = 0; i < r->ncells; i++)
        for (unsigned l = 0; l < r->test->nloops; l++)
            if (cell_measured(r, &r->cells[i]))
                histogram(file, r, &r->cells[i], l);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each time was taken: CSV of the histograms behind p50 … p999. */
#include "report.h"

static const char header[] =
    "test,fabric,rails,engine,policy,team,wait,notify_by,bytes,loop,point,"
    "lowest_us,highest_us,count,cumulated,messages,op";

/* The columns that tell a point from others. */
static void point(FILE *file, const result_t *r, const cell_t *cell,
                  const loop_t *loop)
{
    const setup_t *setup = &r->plan->setups[cell->setup];
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
        drail_notify_by_name(setup->notify_by), (unsigned long long)cell->bytes,
        loop->name);
    report_csv_text(file, label);
}

static void histogram(FILE *file, const result_t *r, const cell_t *cell,
                      unsigned l)
{
    const loop_t *loop = r->test->loops[l];
    const hist_t *hist = cell->series[l].samples;
    uint64_t messages = loop_messages(loop, r->opts->batch), seen = 0;
    double scale = 1e-3 / (double)messages;
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        if (!hist->buckets[i])
            continue;
        seen += hist->buckets[i];
        point(file, r, cell, loop);
        report_csv_number(file, scale * (double)hist_lowest(i));
        report_csv_number(file, scale * (double)(hist_lowest(i + 1) - 1));
        fprintf(file, ",%llu", (unsigned long long)hist->buckets[i]);
        report_csv_number(file, (double)seen / (double)hist->count);
        fprintf(file, ",%llu,%s", (unsigned long long)messages,
                op_name(r->plan->setups[cell->setup].op));
        report_csv_origin(file, &r->machine, r->opts);
    }
}

void report_histogram(FILE *file, const result_t *r)
{
    report_csv_header(file, header);
    for (unsigned i = 0; i < r->ncells; i++)
        for (unsigned l = 0; l < r->test->nloops; l++)
            if (cell_measured(r, &r->cells[i]))
                histogram(file, r, &r->cells[i], l);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of the applications. */
#include "app_result.h"
#include "bench/report/report.h"

/* Of the ranks' time, the part that is not computation, in per cent. */
static double communication(const app_figures_t *f)
{
    double waits = f->allgather_us.median + f->exchange_us.median;
    return 100 * waits / (waits + f->compute_us.median);
}

static double short_share(const app_cell_t *c)
{
    return c->all.allgathers ? 100 * (double)c->all.allgathers_short /
                                   (double)c->all.allgathers
                             : 0;
}

static void label(const void *result, unsigned i, char *text, size_t size)
{
    const app_result_t *r = result;
    coll_setup_label(r->plan, &r->plan->setups[i], text, size);
}

static bool has_row(const void *result, unsigned i)
{
    const app_result_t *r = result;
    return r->cells[i].count;
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const app_result_t *r = result;
    const app_cell_t *c = &r->cells[i];
    const coll_setup_t *s = &r->plan->setups[i];
    const app_figures_t f = app_figures(r, i);
    char text[REPORT_LABEL];
    label(r, i, text, sizeof text);
    row_cell(row, 0, -row->of->width[0], "algorithm", text);
    row_cell_summary(row, 10, "us", &f.us);
    row_cell_number(row, 10, "compute", f.compute_us.median);
    row_cell_number(row, 10, "allgather", f.allgather_us.median);
    row_cell_number(row, 10, "p2p", f.exchange_us.median);
    row_cell_number(row, 6, "comm%", communication(&f));
    row_cell_number(row, 8, "speedup", f.speedup);
    row_cell_count(row, 1, 4, "n", c->count);
    row_cell(row, 1, 0, "valid", c->wrong ? "NO" : "yes");

    row_text(row, IN_CSV, "test", r->test->name);
    row_text(row, IN_BOTH, "algorithm", coll_setup_algorithm(s));
    row_text(row, IN_BOTH, "engine", drail_engine_name(s->rail.engine));
    row_text(row, IN_BOTH, "policy", drail_policy_name(s->rail.policy));
    row_count(row, IN_CSV, "ranks", r->plan->shape.nranks);
    row_count(row, IN_CSV, "ppn", options_ppn(r->opts));
    row_count(row, IN_CSV, "repeats", c->count);
    row_summary(row, IN_BOTH, "time_us", &f.us);
    row_median(row, "compute_us", &f.compute_us);
    row_median(row, "allgather_us", &f.allgather_us);
    row_median(row, "p2p_us", &f.exchange_us);
    row_number(row, IN_CSV, "sequential_us", app_sequential_us(r));
    row_count(row, IN_BOTH, "allgathers", c->all.allgathers);
    row_count(row, IN_BOTH, "allgathers_below_64", c->all.allgathers_short);
    row_count(row, IN_BOTH, "longest_block", c->all.longest);
    row_count(row, IN_BOTH, "messages", c->all.messages);
    row_count(row, IN_BOTH, "message_bytes", c->all.sent);
    row_flag(row, IN_BOTH, "valid", !c->wrong);
    row_flag(row, IN_CSV, "partial", r->partial);
}

static void table_head(FILE *file, const report_t *of)
{
    const app_result_t *r = of->result;
    char problem[128];
    const app_times_t *all = &r->cells[0].all;
    double ranks = (double)r->opts->ranks;
    r->app->describe(r->opts, problem, sizeof problem);
    report_title(file, of);
    fprintf(file, "# %s; %u ranks, %llu per node; one rank alone: %.4g us",
            problem, r->plan->shape.nranks,
            (unsigned long long)options_ppn(r->opts), app_sequential_us(r));
    if (r->solved.us.n)
        fprintf(file, " (median of %u runs)", r->solved.us.n);
    fputc('\n', file);
    fprintf(file,
            "# each rank: %.4g all-gathers, %.3g %% of them of less than %d "
            "bytes, the longest of %llu; %.4g messages of %.4g bytes\n",
            (double)all->allgathers / ranks, short_share(&r->cells[0]),
            APP_SHORT_BYTES, (unsigned long long)all->longest,
            (double)all->messages / ranks,
            all->messages ? (double)all->sent / (double)all->messages : 0);
    fprintf(file,
            "# us: the slowest rank, median %s of the runs; its parts: means "
            "over the ranks, waiting included\n",
            report_interval(r->opts));
    if (r->opts->simulated)
        fprintf(file, "# a rank computes %g operations per second\n",
                r->opts->apps.rate);
    report_partial(file, r->partial);
    report_notes(file, &r->notes);
    report_few(file, r->opts);
}

static void table(FILE *file, const report_t *of)
{
    table_head(file, of);
    report_rows(file, of, 0);
}

static void json_options(json_t *j, const app_result_t *r)
{
    const options_t *o = r->opts;
    const struct apps_options *a = &o->apps;
    static const char *const ways[] = {[ZERO_COPY_AUTO] = "auto",
                                       [ZERO_COPY_ON] = "on",
                                       [ZERO_COPY_OFF] = "off"};
    report_json_options_begin(j, o);
    json_uint(j, "ports", r->plan->shape.ports);
    json_bool(j, "paced", o->paced);
    json_string(j, "zero_copy", ways[o->zero_copy]);
    json_uint(j, "draw", a->draw);
    if (o->simulated)
        json_double(j, "operations_per_second", a->rate);
    if (a->bodies) {
        json_uint(j, "bodies", a->bodies);
        json_uint(j, "steps", a->steps);
        json_uint(j, "rebalance", a->rebalance);
        json_double(j, "theta", a->theta);
    } else {
        json_uint(j, "keys", a->keys);
        json_uint(j, "bits", a->bits);
        json_uint(j, "digit", a->digit);
    }
    json_end_object(j);
}

static void json(json_t *j, const report_t *of)
{
    const app_result_t *r = of->result;
    json_bool(j, "partial", r->partial);
    json_options(j, r);
    json_double(j, "sequential_us", app_sequential_us(r));
    report_json_machine(j, &r->machine);
    report_json_settings(j);
    report_json_notes(j, &r->notes);
    report_json_rows(j, "results", of, false);
}

int app_report(FILE *file, format_t format, const void *result)
{
    const app_result_t *r = result;
    return report_write(file, format,
                        &(report_t){.result = r,
                                    .test = r->test->name,
                                    .machine = &r->machine,
                                    .opts = r->opts,
                                    .nrows = r->plan->count,
                                    .has_row = has_row,
                                    .columns = columns,
                                    .width = {report_width(
                                        "algorithm", r->plan->count, label, r)},
                                    .table = table,
                                    .json = json});
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Table, CSV and JSON of the applications. */
#include <string.h>

#include "app_result.h"
#include "bench/report/report.h"

#define LABEL_MAX 128

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

/* --------------------------------------------------------------- table --- */

static int label_width(const app_result_t *r)
{
    size_t widest = strlen("algorithm");
    for (unsigned i = 0; i < r->plan->count; i++) {
        char text[LABEL_MAX];
        coll_setup_label(r->plan, &r->plan->setups[i], text, sizeof text);
        if (strlen(text) > widest)
            widest = strlen(text);
    }
    return (int)widest;
}

static void table_head(FILE *file, const app_result_t *r)
{
    char problem[128];
    const app_times_t *all = &r->cells[0].all;
    double ranks = (double)r->opts->ranks;
    r->app->describe(r->opts, problem, sizeof problem);
    report_title(file, r->test->name, &r->machine, r->opts);
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
    if (r->partial)
        fputs("# note: partial result: the run was ended early\n", file);
    report_notes(file, &r->notes);
    report_few(file, r->opts);
}

static void table(FILE *file, const app_result_t *r)
{
    int width = label_width(r);
    table_head(file, r);
    fprintf(file, "%-*s %10s %10s %10s %10s %10s %10s %6s %8s %4s %s\n", width,
            "algorithm", "us", "[lo", "hi]", "compute", "allgather", "p2p",
            "comm%", "speedup", "n", "valid");
    for (unsigned i = 0; i < r->plan->count; i++) {
        char label[LABEL_MAX];
        app_figures_t f = app_figures(r, i);
        if (!r->cells[i].count)
            continue;
        coll_setup_label(r->plan, &r->plan->setups[i], label, sizeof label);
        fprintf(file, "%-*s", width, label);
        report_number(file, 10, f.us.median);
        report_number(file, 10, f.us.lo);
        report_number(file, 10, f.us.hi);
        report_number(file, 10, f.compute_us.median);
        report_number(file, 10, f.allgather_us.median);
        report_number(file, 10, f.exchange_us.median);
        report_number(file, 6, communication(&f));
        report_number(file, 8, f.speedup);
        fprintf(file, " %4u %s\n", r->cells[i].count,
                r->cells[i].wrong ? "NO" : "yes");
    }
}

/* ----------------------------------------------------------------- CSV --- */

static void csv_row(FILE *file, const app_result_t *r, unsigned cell)
{
    const app_cell_t *c = &r->cells[cell];
    const coll_setup_t *s = &r->plan->setups[cell];
    app_figures_t f = app_figures(r, cell);
    fprintf(file, "%s,%s,%s,%s,%u,%llu,%u", r->test->name,
            coll_setup_algorithm(s), drail_engine_name(s->rail.engine),
            drail_policy_name(s->rail.policy), r->plan->shape.nranks,
            (unsigned long long)options_ppn(r->opts), c->count);
    report_csv_number(file, f.us.median);
    report_csv_number(file, f.us.lo);
    report_csv_number(file, f.us.hi);
    report_csv_number(file, f.compute_us.median);
    report_csv_number(file, f.allgather_us.median);
    report_csv_number(file, f.exchange_us.median);
    report_csv_number(file, app_sequential_us(r));
    fprintf(file, ",%llu,%llu,%llu,%llu,%llu,%s,%s",
            (unsigned long long)c->all.allgathers,
            (unsigned long long)c->all.allgathers_short,
            (unsigned long long)c->all.longest,
            (unsigned long long)c->all.messages,
            (unsigned long long)c->all.sent, c->wrong ? "no" : "yes",
            r->partial ? "yes" : "no");
    report_csv_origin(file, &r->machine, r->opts);
}

static void csv(FILE *file, const app_result_t *r)
{
    report_csv_header(
        file,
        "test,algorithm,engine,policy,ranks,ppn,repeats,time_us,time_us_lo,"
        "time_us_hi,compute_us,allgather_us,p2p_us,sequential_us,allgathers,"
        "allgathers_below_64,longest_block,messages,message_bytes,valid,"
        "partial");
    for (unsigned i = 0; i < r->plan->count; i++)
        if (r->cells[i].count)
            csv_row(file, r, i);
}

/* ---------------------------------------------------------------- JSON --- */

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

static void json_row(json_t *j, const app_result_t *r, unsigned cell)
{
    const app_cell_t *c = &r->cells[cell];
    const coll_setup_t *s = &r->plan->setups[cell];
    app_figures_t f = app_figures(r, cell);
    json_object(j, NULL);
    json_string(j, "algorithm", coll_setup_algorithm(s));
    json_string(j, "engine", drail_engine_name(s->rail.engine));
    json_string(j, "policy", drail_policy_name(s->rail.policy));
    report_json_summary(j, "time_us", &f.us);
    report_json_summary(j, "compute_us", &f.compute_us);
    report_json_summary(j, "allgather_us", &f.allgather_us);
    report_json_summary(j, "p2p_us", &f.exchange_us);
    json_uint(j, "allgathers", c->all.allgathers);
    json_uint(j, "allgathers_below_64", c->all.allgathers_short);
    json_uint(j, "longest_block", c->all.longest);
    json_uint(j, "messages", c->all.messages);
    json_uint(j, "message_bytes", c->all.sent);
    json_bool(j, "valid", !c->wrong);
    json_end_object(j);
}

static void json(FILE *file, const app_result_t *r)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    report_json_identity(j, r->test->name, &r->machine);
    json_bool(j, "partial", r->partial);
    json_options(j, r);
    json_double(j, "sequential_us", app_sequential_us(r));
    report_json_machine(j, &r->machine);
    report_json_settings(j);
    report_json_notes(j, &r->notes);
    json_array(j, "results");
    for (unsigned i = 0; i < r->plan->count; i++)
        if (r->cells[i].count)
            json_row(j, r, i);
    json_end_array(j);
    json_end_object(j);
}

void app_report(FILE *file, format_t format, const void *result)
{
    static void (*const reports[])(FILE *, const app_result_t *) = {
        [FORMAT_TABLE] = table, [FORMAT_CSV] = csv, [FORMAT_JSON] = json};
    reports[format](file, result);
}

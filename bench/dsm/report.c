/* SPDX-License-Identifier: BSD-3-Clause */
/* Table, CSV and JSON of the test of shared memory. */
#include <math.h>
#include <string.h>

#include "bench/report/report.h"
#include "program.h"
#include "result.h"

#define LABEL_MAX 128
#define RAILS_MAX (DRAIL_MAX_RAILS * DRAIL_NAME_MAX)

static const dsm_case_t *case_of(const dsm_cell_t *cell)
{
    return &cell->part->cases[cell->what];
}

static bool has_gain(const dsm_result_t *r, const dsm_cell_t *cell)
{
    return !isnan(dsm_result_gain(r, cell));
}

/* --------------------------------------------------------------- table --- */

static void label(const dsm_result_t *r, const dsm_setup_t *setup, char *text,
                  size_t size)
{
    setup_label(&setup->how, r->opts, text, size);
    size_t used = strlen(text);
    if (setup_one_rail(&setup->how))
        snprintf(text + used, size - used, " %s",
                 r->opts->rails[setup->how.rail]);
    else
        snprintf(text + used, size - used, " %u rail%s", setup->nrails,
                 setup->nrails == 1 ? "" : "s");
}

static int label_width(const dsm_result_t *r)
{
    size_t widest = strlen("engine");
    for (unsigned i = 0; i < r->nsetups; i++) {
        char text[LABEL_MAX];
        label(r, &r->setups[i], text, sizeof text);
        if (strlen(text) > widest)
            widest = strlen(text);
    }
    return (int)widest;
}

static int case_width(const dsm_part_t *part)
{
    size_t widest = strlen("case");
    for (unsigned i = 0; i < part->ncases; i++)
        if (strlen(part->cases[i].name) > widest)
            widest = strlen(part->cases[i].name);
    return (int)widest;
}

static void table_head(FILE *file, const dsm_result_t *r)
{
    const options_t *o = r->opts;
    report_title(file, r->test->name, &r->machine, o);
    fputs("# rails:", file);
    for (unsigned i = 0; i < o->nrails; i++)
        fprintf(file, " %s (%s)", o->rails[i], r->rails[i].fabric);
    fprintf(file,
            "\n# %llu ranks, %llu per node; faults take up to %llu pages "
            "along when they go upwards\n",
            (unsigned long long)o->ranks, (unsigned long long)options_ppn(o),
            (unsigned long long)o->dsm.ahead);
    fprintf(file,
            "# us: median %s of the repeats; gain: over the first rail alone; "
            "MB = 10^6 bytes\n",
            report_interval(o));
    if (r->partial)
        fputs("# note: partial result: the run was ended early\n", file);
    report_notes(file, &r->notes);
    report_few(file, o);
}

static void part_head(FILE *file, const dsm_result_t *r, const dsm_part_t *part,
                      int width)
{
    fprintf(file, "\n# %s: %s\n", part->name, part->what);
    if (part->program) {
        char problem[128];
        part->program->describe(r->opts, problem, sizeof problem);
        fprintf(file, "# %s; one rank alone:", problem);
        report_number(file, 1, dsm_result_alone(r, part));
        fputs(" us\n", file);
    }
    fprintf(file, "%-*s", case_width(part), "case");
    if (part->sized || part->paged)
        fprintf(file, " %9s", "bytes");
    fprintf(file, "  %-*s %9s %9s %9s", width, "engine", "us", "[lo", "hi]");
    if (part->sized)
        fprintf(file, " %9s", "MB/s");
    for (unsigned i = 0; i < part->nfigures; i++) {
        const char *name = dsm_figure_name(part->figures[i]);
        size_t length = strlen(name);
        if (length > 3 && !strcmp(name + length - 3, "_us"))
            length -= 3;
        fprintf(file, " %9.*s", length > 9 ? 4 : (int)length, name);
    }
    if (part->program)
        fprintf(file, " %7s %7s", "faults%", "speedup");
    fprintf(file, " %6s %4s %s\n", "gain", "n", "valid");
}

static void table_row(FILE *file, const dsm_result_t *r, const dsm_cell_t *cell,
                      int width)
{
    const dsm_part_t *part = cell->part;
    summary_t us = dsm_result_figure(r, cell, FIGURE_TIME);
    char text[LABEL_MAX];
    label(r, &r->setups[cell->setup], text, sizeof text);
    fprintf(file, "%-*s", case_width(part), case_of(cell)->name);
    if (cell->bytes)
        fprintf(file, " %9llu", (unsigned long long)cell->bytes);
    fprintf(file, "  %-*s", width, text);
    report_number(file, 9, us.median);
    report_number(file, 9, us.lo);
    report_number(file, 9, us.hi);
    if (part->sized)
        report_number(file, 9, dsm_result_rate(r, cell).median);
    for (unsigned i = 0; i < part->nfigures; i++)
        report_number(file, 9,
                      dsm_result_figure(r, cell, part->figures[i]).median);
    if (part->program) {
        report_number(file, 7, dsm_result_faults(r, cell));
        report_number(file, 7, dsm_result_speedup(r, cell));
    }
    report_number(file, 6, dsm_result_gain(r, cell));
    fprintf(file, " %4u %s\n", cell->count, cell->wrong ? "NO" : "yes");
}

static void table(FILE *file, const dsm_result_t *r)
{
    const dsm_part_t *part = NULL;
    int width = label_width(r);
    table_head(file, r);
    for (unsigned i = 0; i < r->ncells; i++) {
        const dsm_cell_t *cell = &r->cells[i];
        if (!cell->count)
            continue;
        if (cell->part != part)
            part_head(file, r, cell->part, width);
        part = cell->part;
        table_row(file, r, cell, width);
    }
}

/* ----------------------------------------------------------------- CSV --- */

static void csv_summary(FILE *file, const summary_t *s)
{
    report_csv_number(file, s->median);
    report_csv_number(file, s->lo);
    report_csv_number(file, s->hi);
}

static void csv_row(FILE *file, const dsm_result_t *r, const dsm_cell_t *cell)
{
    const dsm_setup_t *setup = &r->setups[cell->setup];
    const setup_t *how = &setup->how;
    char rails[RAILS_MAX];
    dsm_setup_rails(setup, r->opts, rails, sizeof rails);
    fprintf(file, "%s,%s,%s,", r->test->name, cell->part->name,
            case_of(cell)->name);
    if (cell->bytes)
        fprintf(file, "%llu", (unsigned long long)cell->bytes);
    fprintf(file, ",%s,%u,%s,%s,%s,%llu,%llu,%u", rails, setup->nrails,
            drail_engine_name(how->engine),
            how->engine == DRAIL_ENGINE_THREADED ? drail_team_name(how->team)
                                                 : "",
            drail_policy_name(how->policy), (unsigned long long)r->opts->ranks,
            (unsigned long long)options_ppn(r->opts), cell->count);
    for (unsigned i = 0; i < DSM_FIGURES; i++) {
        summary_t s = dsm_result_figure(r, cell, (dsm_figure_t)i);
        csv_summary(file, &s);
    }
    summary_t rate = dsm_result_rate(r, cell);
    csv_summary(file, &rate);
    report_csv_number(file, dsm_result_gain(r, cell));
    report_csv_number(file, dsm_result_faults(r, cell));
    report_csv_number(file, dsm_result_speedup(r, cell));
    fprintf(file, ",%s,%s", cell->wrong ? "no" : "yes",
            r->partial ? "yes" : "no");
    report_csv_origin(file, &r->machine, r->opts);
}

static void csv(FILE *file, const dsm_result_t *r)
{
    char columns[1024];
    int used = snprintf(columns, sizeof columns,
                        "test,part,case,bytes,rails,nrails,engine,team,policy,"
                        "ranks,ppn,repeats");
    for (unsigned i = 0; i < DSM_FIGURES; i++) {
        const char *name = dsm_figure_name((dsm_figure_t)i);
        used += snprintf(columns + used, sizeof columns - (size_t)used,
                         ",%s,%s_lo,%s_hi", name, name, name);
    }
    snprintf(columns + used, sizeof columns - (size_t)used,
             ",rate_MBps,rate_MBps_lo,rate_MBps_hi,gain,faults_pct,speedup,"
             "valid,partial");
    report_csv_header(file, columns);
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].count)
            csv_row(file, r, &r->cells[i]);
}

/* ---------------------------------------------------------------- JSON --- */

static void json_options(json_t *j, const dsm_result_t *r)
{
    const options_t *o = r->opts;
    report_json_options_begin(j, o);
    json_uint(j, "repeat", o->repeat);
    json_double(j, "precision", o->precision);
    json_double(j, "time_budget_s", o->time_budget);
    json_uint(j, "page", o->dsm.page);
    json_uint(j, "pages", o->dsm.pages);
    json_uint(j, "ahead", o->dsm.ahead);
    json_uint(j, "rows", o->dsm.rows);
    json_uint(j, "columns", o->dsm.columns);
    json_uint(j, "steps", o->dsm.steps);
    json_uint(j, "order", o->dsm.order);
    json_uint(j, "keys", o->dsm.keys);
    json_uint(j, "bodies", o->dsm.bodies);
    if (o->simulated)
        json_double(j, "operations_per_second", o->dsm.rate);
    json_uint(j, "eps", o->eps);
    json_bool(j, "pin", !o->no_pin);
    json_end_object(j);
}

static void json_row(json_t *j, const dsm_result_t *r, const dsm_cell_t *cell)
{
    const dsm_setup_t *setup = &r->setups[cell->setup];
    const setup_t *how = &setup->how;
    char rails[RAILS_MAX];
    dsm_setup_rails(setup, r->opts, rails, sizeof rails);
    json_object(j, NULL);
    json_string(j, "part", cell->part->name);
    json_string(j, "case", case_of(cell)->name);
    if (cell->bytes)
        json_uint(j, "bytes", cell->bytes);
    json_string(j, "rails", rails);
    json_uint(j, "nrails", setup->nrails);
    json_string(j, "engine", drail_engine_name(how->engine));
    if (how->engine == DRAIL_ENGINE_THREADED)
        json_string(j, "team", drail_team_name(how->team));
    json_string(j, "policy", drail_policy_name(how->policy));
    for (unsigned i = 0; i < DSM_FIGURES; i++) {
        summary_t s = dsm_result_figure(r, cell, (dsm_figure_t)i);
        if (!isnan(s.median))
            report_json_summary(j, dsm_figure_name((dsm_figure_t)i), &s);
    }
    if (cell->bytes) {
        summary_t rate = dsm_result_rate(r, cell);
        report_json_summary(j, "rate_MBps", &rate);
    }
    if (has_gain(r, cell))
        json_double(j, "gain", dsm_result_gain(r, cell));
    if (cell->part->program) {
        json_double(j, "faults_pct", dsm_result_faults(r, cell));
        json_double(j, "speedup", dsm_result_speedup(r, cell));
    }
    json_bool(j, "valid", !cell->wrong);
    json_end_object(j);
}

/* Of each program. */
static void json_alone(json_t *j, const dsm_result_t *r)
{
    json_object(j, "alone_us");
    for (unsigned p = 0; p < DSM_PARTS; p++)
        if (dsm_parts[p]->program && dsm_chosen(r->opts, (dsm_kind_t)p))
            json_double(j, dsm_parts[p]->name,
                        dsm_result_alone(r, dsm_parts[p]));
    json_end_object(j);
}

static void json(FILE *file, const dsm_result_t *r)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    report_json_identity(j, r->test->name, &r->machine);
    json_bool(j, "partial", r->partial);
    json_options(j, r);
    json_alone(j, r);
    report_json_machine(j, &r->machine);
    report_json_rails(j, r->rails, r->opts->nrails);
    report_json_settings(j);
    report_json_notes(j, &r->notes);
    json_array(j, "results");
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].count)
            json_row(j, r, &r->cells[i]);
    json_end_array(j);
    json_end_object(j);
}

void dsm_report(FILE *file, format_t format, const void *result)
{
    static void (*const reports[])(FILE *, const dsm_result_t *) = {
        [FORMAT_TABLE] = table, [FORMAT_CSV] = csv, [FORMAT_JSON] = json};
    reports[format](file, result);
}

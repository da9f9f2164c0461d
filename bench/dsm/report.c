/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of `railbench dsm`. */
#include <math.h>
#include <string.h>

#include "bench/report/report.h"
#include "program.h"
#include "result.h"

static const dsm_case_t *case_of(const dsm_cell_t *cell)
{
    return &cell->part->cases[cell->what];
}

static void label(const void *result, unsigned index, char *text, size_t size)
{
    const dsm_result_t *r = result;
    const dsm_setup_t *setup = &r->setups[index];
    setup_label(&setup->how, r->opts, text, size);
    size_t used = strlen(text);
    if (setup_one_rail(&setup->how))
        snprintf(text + used, size - used, " %s",
                 r->opts->rails[setup->how.rail]);
    else
        snprintf(text + used, size - used, " %u rail%s", setup->nrails,
                 setup->nrails == 1 ? "" : "s");
}

static int case_width(const dsm_part_t *part)
{
    size_t widest = strlen("case");
    for (unsigned i = 0; i < part->ncases; i++)
        if (strlen(part->cases[i].name) > widest)
            widest = strlen(part->cases[i].name);
    return (int)widest;
}

static bool has_row(const void *result, unsigned i)
{
    const dsm_result_t *r = result;
    return r->cells[i].count;
}

/* Title of a figure: its name without the unit, cut if it is too long. */
static void figure_cell(row_t *row, dsm_figure_t figure, double value)
{
    char title[32];
    snprintf(title, sizeof title, "%s", dsm_figure_name(figure));
    size_t length = strlen(title);
    if (length > 3 && !strcmp(title + length - 3, "_us"))
        length -= 3;
    title[length > 9 ? 4 : length] = '\0';
    row_cell_number(row, 9, title, value);
}

static void table_columns(row_t *row, const dsm_result_t *r,
                          const dsm_cell_t *cell)
{
    const dsm_part_t *part = cell->part;
    const summary_t us = dsm_result_figure(r, cell, FIGURE_TIME);
    char text[REPORT_LABEL];
    label(r, cell->setup, text, sizeof text);
    row_cell(row, 0, -case_width(part), "case", case_of(cell)->name);
    if (part->sized || part->paged)
        row_cell_count(row, 1, 9, "bytes", cell->bytes);
    row_cell(row, 2, -row->of->width[0], "engine", text);
    row_cell_summary(row, 9, "us", &us);
    if (part->sized)
        row_cell_number(row, 9, "MB/s", dsm_result_rate(r, cell).median);
    for (unsigned i = 0; i < part->nfigures; i++)
        figure_cell(row, part->figures[i],
                    dsm_result_figure(r, cell, part->figures[i]).median);
    if (part->program) {
        row_cell_number(row, 7, "faults%", dsm_result_faults(r, cell));
        row_cell_number(row, 7, "speedup", dsm_result_speedup(r, cell));
    }
    row_cell_number(row, 6, "gain", dsm_result_gain(r, cell));
    row_cell_count(row, 1, 4, "n", cell->count);
    row_cell(row, 1, 0, "valid", cell->wrong ? "NO" : "yes");
}

static void columns(row_t *row, const void *result, unsigned index)
{
    const dsm_result_t *r = result;
    const dsm_cell_t *cell = &r->cells[index];
    const dsm_setup_t *setup = &r->setups[cell->setup];
    const double gain = dsm_result_gain(r, cell);
    const summary_t rate = dsm_result_rate(r, cell);
    char rails[REPORT_RAILS];
    dsm_setup_rails(setup, r->opts, rails, sizeof rails);
    row_text(row, IN_CSV, "test", r->test->name);
    row_text(row, IN_BOTH, "part", cell->part->name);
    row_text(row, IN_BOTH, "case", case_of(cell)->name);
    row_has(row, cell->bytes);
    row_count(row, IN_BOTH, "bytes", cell->bytes);
    row_has(row, true);
    row_text(row, IN_BOTH, "rails", rails);
    row_count(row, IN_BOTH, "nrails", setup->nrails);
    row_text(row, IN_BOTH, "engine", drail_engine_name(setup->how.engine));
    row_has(row, setup->how.engine == DRAIL_ENGINE_THREADED);
    row_text(row, IN_BOTH, "team", drail_team_name(setup->how.team));
    row_has(row, true);
    row_text(row, IN_BOTH, "policy", drail_policy_name(setup->how.policy));
    row_count(row, IN_CSV, "ranks", r->opts->ranks);
    row_count(row, IN_CSV, "ppn", options_ppn(r->opts));
    row_count(row, IN_CSV, "repeats", cell->count);
    for (unsigned i = 0; i < DSM_FIGURES; i++) {
        const summary_t s = dsm_result_figure(r, cell, (dsm_figure_t)i);
        row_has(row, !isnan(s.median));
        row_summary(row, IN_BOTH, dsm_figure_name((dsm_figure_t)i), &s);
    }
    row_has(row, cell->bytes);
    row_summary(row, IN_BOTH, "rate_MBps", &rate);
    row_has(row, !isnan(gain));
    row_number(row, IN_BOTH, "gain", gain);
    row_has(row, cell->part->program);
    row_number(row, IN_BOTH, "faults_pct", dsm_result_faults(r, cell));
    row_number(row, IN_BOTH, "speedup", dsm_result_speedup(r, cell));
    row_has(row, true);
    row_flag(row, IN_BOTH, "valid", !cell->wrong);
    row_flag(row, IN_CSV, "partial", r->partial);
}

static void table_head(FILE *file, const report_t *of)
{
    const dsm_result_t *r = of->result;
    const options_t *o = r->opts;
    report_title(file, of);
    report_rails(file, o, r->rails);
    fprintf(file,
            "\n# %llu ranks, %llu per node; faults take up to %llu pages "
            "along when they go upwards\n",
            (unsigned long long)o->ranks, (unsigned long long)options_ppn(o),
            (unsigned long long)o->dsm.ahead);
    fprintf(file,
            "# us: median %s of the repeats; gain: over the first rail alone; "
            "MB = 10^6 bytes\n",
            report_interval(o));
    report_partial(file, r->partial);
    report_notes(file, &r->notes);
    report_few(file, o);
}

static void part_head(FILE *file, const dsm_result_t *r, const dsm_part_t *part)
{
    fprintf(file, "\n# %s: %s\n", part->name, part->what);
    if (!part->program)
        return;
    char problem[128];
    part->program->describe(r->opts, problem, sizeof problem);
    fprintf(file, "# %s; one rank alone:", problem);
    report_number(file, 1, dsm_result_alone(r, part));
    fputs(" us\n", file);
}

/* Each part has columns of its own. */
static void table(FILE *file, const report_t *of)
{
    const dsm_result_t *r = of->result;
    const dsm_part_t *part = NULL;
    row_t row = {.of = of, .file = file};
    table_head(file, of);
    for (unsigned i = 0; i < r->ncells; i++) {
        const dsm_cell_t *cell = &r->cells[i];
        if (!cell->count)
            continue;
        if (cell->part != part) {
            part_head(file, r, cell->part);
            row.pass = ROW_TITLES;
            table_columns(&row, r, cell);
            fputc('\n', file);
        }
        part = cell->part;
        row.pass = ROW_TABLE;
        table_columns(&row, r, cell);
        fputc('\n', file);
    }
}

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

/* Time of one rank alone for each program. */
static void json_alone(json_t *j, const dsm_result_t *r)
{
    json_object(j, "alone_us");
    for (unsigned p = 0; p < DSM_PARTS; p++)
        if (dsm_parts[p]->program && dsm_chosen(r->opts, (dsm_kind_t)p))
            json_double(j, dsm_parts[p]->name,
                        dsm_result_alone(r, dsm_parts[p]));
    json_end_object(j);
}

static void json(json_t *j, const report_t *of)
{
    const dsm_result_t *r = of->result;
    json_bool(j, "partial", r->partial);
    json_options(j, r);
    json_alone(j, r);
    report_json_machine(j, &r->machine);
    report_json_rails(j, r->rails, r->opts->nrails);
    report_json_settings(j);
    report_json_notes(j, &r->notes);
    report_json_rows(j, "results", of, false);
}

int dsm_report(FILE *file, format_t format, const void *result)
{
    const dsm_result_t *r = result;
    return report_write(
        file, format,
        &(report_t){.result = r,
                    .test = r->test->name,
                    .machine = &r->machine,
                    .opts = r->opts,
                    .nrows = r->ncells,
                    .has_row = has_row,
                    .columns = columns,
                    .width = {report_width("engine", r->nsetups, label, r)},
                    .table = table,
                    .json = json});
}

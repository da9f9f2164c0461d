/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report.h"
#include "row.h"

void report_number(FILE *file, int width, double value)
{
    if (!isfinite(value))
        fprintf(file, " %*s", width, "-");
    else if (value >= 1000)
        fprintf(file, " %*.0f", width, value);
    else if (value >= 100)
        fprintf(file, " %*.1f", width, value);
    else
        fprintf(file, " %*.*f", width, value >= 10 ? 2 : 3, value);
}

/* --------------------------------------------------------- CSV and JSON --- */

/* Begins a column of the CSV. @return must the caller write its value? Not in
 * the pass that writes names, nor if this is no CSV. */
static bool csv_value(row_t *row, unsigned in, const char *name,
                      const char *suffix)
{
    if (!(in & IN_CSV) || (row->pass != ROW_NAMES && row->pass != ROW_CSV))
        return false;
    if (row->begun)
        fputc(',', row->file);
    row->begun = true;
    if (row->pass == ROW_NAMES)
        fprintf(row->file, "%s%s", name, suffix);
    return row->pass == ROW_CSV && !row->absent;
}

static bool json_value(const row_t *row, unsigned in)
{
    return in & IN_JSON && row->pass == ROW_JSON && !row->absent;
}

void row_text(row_t *row, unsigned in, const char *name, const char *value)
{
    if (csv_value(row, in, name, ""))
        report_csv_quoted(row->file, value);
    if (json_value(row, in))
        json_string(row->json, name, value);
}

void row_count(row_t *row, unsigned in, const char *name, uint64_t value)
{
    if (csv_value(row, in, name, ""))
        fprintf(row->file, "%" PRIu64, value);
    if (json_value(row, in))
        json_uint(row->json, name, value);
}

static void csv_number(row_t *row, unsigned in, const char *name,
                       const char *suffix, double value)
{
    if (csv_value(row, in, name, suffix) && isfinite(value))
        fprintf(row->file, "%.6g", value);
}

void row_number(row_t *row, unsigned in, const char *name, double value)
{
    csv_number(row, in, name, "", value);
    if (json_value(row, in))
        json_double(row->json, name, value);
}

void row_flag(row_t *row, unsigned in, const char *name, bool value)
{
    if (csv_value(row, in, name, ""))
        fputs(value ? "yes" : "no", row->file);
    if (json_value(row, in))
        json_bool(row->json, name, value);
}

void row_has(row_t *row, bool value)
{
    row->absent = !value;
}

void row_summary(row_t *row, unsigned in, const char *name,
                 const summary_t *value)
{
    csv_number(row, in, name, "", value->median);
    csv_number(row, in, name, "_lo", value->lo);
    csv_number(row, in, name, "_hi", value->hi);
    if (json_value(row, in))
        report_json_summary(row->json, name, value);
}

void row_tail(row_t *row, const char *name, const summary_t *value, double p99)
{
    csv_number(row, IN_CSV, name, "", value->median);
    csv_number(row, IN_CSV, name, "_p99", p99);
    csv_number(row, IN_CSV, name, "_lo", value->lo);
    csv_number(row, IN_CSV, name, "_hi", value->hi);
}

void row_median(row_t *row, const char *name, const summary_t *value)
{
    csv_number(row, IN_CSV, name, "", value->median);
    if (json_value(row, IN_JSON))
        report_json_summary(row->json, name, value);
}

/* --------------------------------------------------------------- table --- */

static bool in_table(const row_t *row)
{
    return row->pass == ROW_TITLES || row->pass == ROW_TABLE;
}

void row_cell(row_t *row, int gap, int width, const char *title,
              const char *value)
{
    if (in_table(row))
        fprintf(row->file, "%*s%*s", gap, "", width,
                row->pass == ROW_TITLES ? title : value);
}

void row_cell_count(row_t *row, int gap, int width, const char *title,
                    uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    row_cell(row, gap, width, title, text);
}

void row_cell_number(row_t *row, int width, const char *title, double value)
{
    if (row->pass == ROW_TABLE)
        report_number(row->file, width, value);
    else
        row_cell(row, 1, width, title, "");
}

void row_cell_summary(row_t *row, int width, const char *title,
                      const summary_t *value)
{
    row_cell_number(row, width, title, value->median);
    row_cell_number(row, width, "[lo", value->lo);
    row_cell_number(row, width, "hi]", value->hi);
}

void row_cell_end(row_t *row, const char *text)
{
    if (row->pass == ROW_TABLE)
        fputs(text, row->file);
}

/* ------------------------------------------ columns that several tests have
 * --- */

void row_setup(row_t *row, const drail_rail_info_t *rails, const setup_t *setup)
{
    const report_t *of = row->of;
    char text[REPORT_RAILS], fabric[REPORT_RAILS];
    setup_rails(setup, of->opts, text, sizeof text);
    rails_fabric(rails, of->opts->nrails, setup, fabric, sizeof fabric);
    row_text(row, IN_CSV, "test", of->test);
    row_text(row, IN_CSV, "fabric", fabric);
    row_text(row, IN_CSV, "rails", text);
    row_text(row, IN_CSV, "engine", drail_engine_name(setup->engine));
    row_text(row, IN_CSV, "policy", drail_policy_name(setup->policy));
}

void row_common(row_t *row, const drail_rail_info_t *rails,
                const setup_t *setup, const char *algorithm, unsigned ports,
                uint64_t bytes)
{
    row_setup(row, rails, setup);
    row_text(row, IN_CSV, "algorithm", algorithm);
    row_count(row, IN_CSV, "ranks", row->of->opts->ranks);
    row_count(row, IN_CSV, "ppn", options_ppn(row->of->opts));
    row_count(row, IN_CSV, "ports", ports);
    row_count(row, IN_CSV, "bytes", bytes);
}

const char *report_team(const setup_t *setup)
{
    return setup->engine == DRAIL_ENGINE_THREADED ? drail_team_name(setup->team)
                                                  : "";
}

void row_validity(row_t *row, validity_t validity)
{
    static const char *const texts[] = {"", "yes", "no"};
    row_text(row, IN_CSV, "valid", texts[validity]);
}

void row_cell_validity(row_t *row, int gap, validity_t validity)
{
    static const char *const texts[] = {"", "valid", "INVALID"};
    if (row->pass == ROW_TABLE && validity != NOT_VALIDATED)
        fprintf(row->file, "%*s%s", gap, "", texts[validity]);
}

bool bucket_next(bucket_t *b)
{
    do
        b->index++;
    while (b->index < HIST_BUCKETS && !b->hist->buckets[b->index]);
    if (b->index == HIST_BUCKETS)
        return false;
    b->seen += b->hist->buckets[b->index];
    return true;
}

void row_bucket(row_t *row, const bucket_t *b)
{
    const bool some = row->pass == ROW_CSV;
    row_number(row, IN_CSV, "lowest_us",
               some ? b->scale * (double)hist_lowest(b->index) : 0);
    row_number(row, IN_CSV, "highest_us",
               some ? b->scale * (double)(hist_lowest(b->index + 1) - 1) : 0);
    row_count(row, IN_CSV, "count", some ? b->hist->buckets[b->index] : 0);
    row_number(row, IN_CSV, "cumulated",
               some ? (double)b->seen / (double)b->hist->count : 0);
}

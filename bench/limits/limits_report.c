/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of `railbench limits`: copies, then transfers of cache lines. */
#include <math.h>

#include "bench/report/report.h"
#include "limits_result.h"

static const char *buffers(const limits_row_t *row)
{
    return row->cached ? "cached" : "uncached";
}

static bool has_row(const void *result, unsigned i)
{
    const limits_result_t *r = result;
    return r->rows[i].count;
}

static void columns(row_t *row, const void *result, unsigned i)
{
    const limits_result_t *r = result;
    const limits_row_t *of = &r->rows[i];
    const bool copy = !of->transfer;
    const summary_t value = limits_summary(r, of);
    const summary_t us = {.median = value.median * 1e-3,
                          .lo = value.lo * 1e-3,
                          .hi = value.hi * 1e-3};
    char cores[32];
    snprintf(cores, sizeof cores, "%d-%d", of->from, of->to);
    row_text(row, IN_CSV, "test", "limits");
    row_text(row, IN_CSV, "what", copy ? "copy" : "cache lines");
    row_text(row, IN_CSV, "copy", copy ? copy_kernel_name(of->kernel) : "");
    row_text(row, IN_CSV, "buffers", copy ? buffers(of) : "");
    row_count(row, IN_CSV, "threads", copy ? of->threads : 2);
    row_has(row, !copy);
    row_text(row, IN_CSV, "cores", cores);
    row_count(row, IN_CSV, "lines", of->transfer);
    row_has(row, copy);
    row_count(row, IN_CSV, "bytes", of->bytes);
    row_has(row, true);
    row_count(row, IN_CSV, "repeats", of->count);
    row_has(row, !copy);
    row_summary(row, IN_CSV, "latency_us", &us);
    row_has(row, copy);
    row_summary(row, IN_CSV, "bandwidth_MBps", &value);
    row_has(row, true);
    row_flag(row, IN_CSV, "partial", r->partial);
}

/* --------------------------------------------------------------- table --- */

static void table_topology(FILE *file, const topology_t *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        const topology_object_t *o = &t->objects[i];
        fprintf(file, "# %*s%s %u", (int)(2 * o->depth), "", o->type, o->index);
        if (o->bytes >= 10 << 20)
            fprintf(file, " %.0f MiB", (double)o->bytes / (1 << 20));
        else if (o->bytes)
            fprintf(file, " %.0f KiB", (double)o->bytes / (1 << 10));
        fprintf(file, ", hardware threads %s\n", o->cpus);
    }
}

static void copy_cells(row_t *row, const limits_result_t *r,
                       const limits_row_t *of)
{
    const summary_t s = limits_summary(r, of);
    row_cell_count(row, 0, 10, "bytes", of->bytes);
    row_cell_count(row, 1, 7, "threads", of->threads);
    row_cell(row, 2, -8, "buffers", buffers(of));
    row_cell(row, 2, -12, "copy", copy_kernel_name(of->kernel));
    row_cell_summary(row, 9, "MB/s", &s);
    row_cell_count(row, 1, 4, "n", s.n);
}

static void transfer_cells(row_t *row, const limits_result_t *r,
                           const limits_row_t *of)
{
    const summary_t s = limits_summary(r, of);
    row_cell_count(row, 0, 6, "from", (uint64_t)of->from);
    row_cell_count(row, 1, 6, "to", (uint64_t)of->to);
    row_cell_count(row, 1, 6, "lines", of->transfer);
    row_cell_summary(row, 9, "ns", &s);
    row_cell_count(row, 1, 4, "n", s.n);
}

/* The rows of one kind; those of another length are set apart. */
static void table_rows(FILE *file, const limits_result_t *r, bool transfers,
                       void (*cells)(row_t *, const limits_result_t *,
                                     const limits_row_t *))
{
    row_t row = {.file = file, .pass = ROW_TITLES};
    uint64_t last = 0;
    cells(&row, r, &r->rows[0]);
    fputc('\n', file);
    row.pass = ROW_TABLE;
    for (unsigned i = 0; i < r->nrows; i++) {
        const limits_row_t *of = &r->rows[i];
        if (!of->count || (of->transfer != 0) != transfers)
            continue;
        if (last && of->bytes != last)
            fputc('\n', file);
        last = of->bytes;
        cells(&row, r, of);
        fputc('\n', file);
    }
}

static void table(FILE *file, const report_t *of)
{
    const limits_result_t *r = of->result;
    report_title(file, of);
    table_topology(file, &r->topology);
    fprintf(file,
            "# cached: the same buffers every time; uncached: through %.0f MiB "
            "of memory; threads pinned; all threads' rates added\n"
            "# cache lines: one way, half of a round trip; 2 lines: a payload, "
            "then a flag, as in a message\n"
            "# median %s over repeats; MB = 10^6 bytes\n",
            (double)r->memory_bytes / (1 << 20), report_interval(r->opts));
    report_few(file, r->opts);
    report_partial(file, r->partial);
    table_rows(file, r, false, copy_cells);
    fputc('\n', file);
    table_rows(file, r, true, transfer_cells);
}

/* ---------------------------------------------------------------- JSON --- */

static void json_topology(json_t *j, const topology_t *t)
{
    json_array(j, "topology");
    for (unsigned i = 0; i < t->count; i++) {
        const topology_object_t *o = &t->objects[i];
        json_row_object(j, NULL);
        json_uint(j, "depth", o->depth);
        json_string(j, "type", o->type);
        json_uint(j, "index", o->index);
        if (o->bytes)
            json_uint(j, "bytes", o->bytes);
        json_string(j, "hardware_threads", o->cpus);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_row(json_t *j, const limits_result_t *r,
                     const limits_row_t *row)
{
    summary_t s = limits_summary(r, row);
    json_object(j, NULL);
    if (row->transfer) {
        json_int(j, "from", row->from);
        json_int(j, "to", row->to);
        json_uint(j, "lines", row->transfer);
    } else {
        json_uint(j, "bytes", row->bytes);
        json_uint(j, "threads", row->threads);
        json_string(j, "buffers", buffers(row));
        json_string(j, "copy", copy_kernel_name(row->kernel));
    }
    report_json_summary(j, row->transfer ? "latency_ns" : "bandwidth_MBps", &s);
    json_row_array(j, "repeats");
    for (unsigned i = 0; i < row->count; i++)
        json_double(j, NULL, row->values[i]);
    json_end_array(j);
    json_end_object(j);
}

static void json_rows(json_t *j, const char *key, const limits_result_t *r,
                      bool transfers)
{
    json_array(j, key);
    for (unsigned i = 0; i < r->nrows; i++)
        if (r->rows[i].count && (r->rows[i].transfer != 0) == transfers)
            json_row(j, r, &r->rows[i]);
    json_end_array(j);
}

static void json(json_t *j, const report_t *of)
{
    const limits_result_t *r = of->result;
    json_bool(j, "partial", r->partial);
    report_json_command(j, r->opts);
    report_json_machine(j, &r->machine);
    json_uint(j, "uncached_memory_bytes", r->memory_bytes);
    json_topology(j, &r->topology);
    json_rows(j, "copies", r, false);
    json_rows(j, "cache_lines", r, true);
}

int limits_report(FILE *file, format_t format, const void *result)
{
    const limits_result_t *r = result;
    return report_write(file, format,
                        &(report_t){.result = r,
                                    .test = "limits",
                                    .machine = &r->machine,
                                    .opts = r->opts,
                                    .nrows = r->nrows,
                                    .has_row = has_row,
                                    .columns = columns,
                                    .table = table,
                                    .json = json});
}

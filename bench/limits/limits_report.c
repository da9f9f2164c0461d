/* SPDX-License-Identifier: BSD-3-Clause */
/* Table, CSV and JSON of `railbench limits`. */
#include <math.h>

#include "limits_result.h"
#include "bench/report/report.h"

static const char *buffers(const limits_row_t *row)
{
    return row->cached ? "cached" : "uncached";
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

static void table_summary(FILE *file, const limits_result_t *r,
                          const limits_row_t *row)
{
    summary_t s = limits_summary(r, row);
    report_number(file, 9, s.median);
    report_number(file, 9, s.lo);
    report_number(file, 9, s.hi);
    fprintf(file, " %4u\n", s.n);
}

static void table_copies(FILE *file, const limits_result_t *r)
{
    uint64_t last = 0;
    fprintf(file, "%10s %7s  %-8s  %-12s %9s %9s %9s %4s\n", "bytes", "threads",
            "buffers", "copy", "MB/s", "[lo", "hi]", "n");
    for (unsigned i = 0; i < r->nrows; i++) {
        const limits_row_t *row = &r->rows[i];
        if (row->transfer || !row->count)
            continue;
        if (last && row->bytes != last)
            fputc('\n', file);
        last = row->bytes;
        fprintf(file, "%10llu %7u  %-8s  %-12s", (unsigned long long)row->bytes,
                row->threads, buffers(row), copy_kernel_name(row->kernel));
        table_summary(file, r, row);
    }
}

static void table_transfers(FILE *file, const limits_result_t *r)
{
    fprintf(file, "\n%6s %6s %6s %9s %9s %9s %4s\n", "from", "to", "lines",
            "ns", "[lo", "hi]", "n");
    for (unsigned i = 0; i < r->nrows; i++) {
        const limits_row_t *row = &r->rows[i];
        if (!row->transfer || !row->count)
            continue;
        fprintf(file, "%6d %6d %6d", row->from, row->to, (int)row->transfer);
        table_summary(file, r, row);
    }
}

static void table(FILE *file, const limits_result_t *r)
{
    report_title(file, "limits", &r->machine, r->opts);
    table_topology(file, &r->topology);
    fprintf(file,
            "# cached: the same buffers every time; uncached: through %.0f MiB "
            "of memory; threads pinned; all threads' rates added\n"
            "# cache lines: one way, half of a round trip; 2 lines: a payload, "
            "then a flag, as in a message\n"
            "# median %s over repeats; MB = 10^6 bytes\n",
            (double)r->memory_bytes / (1 << 20), report_interval(r->opts));
    report_few(file, r->opts);
    if (r->partial)
        fputs("# note: partial result: the run was ended early\n", file);
    table_copies(file, r);
    table_transfers(file, r);
}

/* ----------------------------------------------------------------- CSV --- */

static void csv_summary(FILE *file, const limits_result_t *r,
                        const limits_row_t *row, bool measured, double scale)
{
    summary_t s = limits_summary(r, row);
    report_csv_number(file, measured ? s.median * scale : NAN);
    report_csv_number(file, measured ? s.lo * scale : NAN);
    report_csv_number(file, measured ? s.hi * scale : NAN);
}

static void csv(FILE *file, const limits_result_t *r)
{
    report_csv_header(
        file, "test,what,copy,buffers,threads,cores,lines,bytes,repeats,"
              "latency_us,latency_us_lo,latency_us_hi,bandwidth_MBps,"
              "bandwidth_MBps_lo,bandwidth_MBps_hi,partial");
    for (unsigned i = 0; i < r->nrows; i++) {
        const limits_row_t *row = &r->rows[i];
        if (!row->count)
            continue;
        if (row->transfer)
            fprintf(file, "limits,cache lines,,,2,%d-%d,%d,", row->from,
                    row->to, (int)row->transfer);
        else
            fprintf(file, "limits,copy,%s,%s,%u,,,%llu",
                    copy_kernel_name(row->kernel), buffers(row), row->threads,
                    (unsigned long long)row->bytes);
        fprintf(file, ",%u", row->count);
        csv_summary(file, r, row, row->transfer, 1e-3);
        csv_summary(file, r, row, !row->transfer, 1);
        fprintf(file, ",%s", r->partial ? "yes" : "no");
        report_csv_origin(file, &r->machine, r->opts);
    }
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

static void json(FILE *file, const limits_result_t *r)
{
    json_t writer, *j = &writer;
    json_init(j, file);
    json_object(j, NULL);
    report_json_identity(j, "limits", &r->machine);
    json_bool(j, "partial", r->partial);
    report_json_command(j, r->opts);
    report_json_machine(j, &r->machine);
    json_uint(j, "uncached_memory_bytes", r->memory_bytes);
    json_topology(j, &r->topology);
    json_rows(j, "copies", r, false);
    json_rows(j, "cache_lines", r, true);
    json_end_object(j);
}

void limits_report(FILE *file, format_t format, const void *result)
{
    static void (*const reports[])(FILE *, const limits_result_t *) = {
        [FORMAT_TABLE] = table, [FORMAT_CSV] = csv, [FORMAT_JSON] = json};
    reports[format](file, result);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `railbench limits`: memory copies by 1, 2, 4 … all cores, and cache lines
 * between every pair of cores. All rows are measured in turn, so that a
 * disturbance hits all of them alike.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "bench/interrupt.h"
#include "limits_result.h"
#include "bench/report/output.h"
#include "bench/report/progress.h"
#include "bench/test.h"

#define LARGEST         (UINT64_C(64) << 20)
#define SMALLEST_MEMORY (UINT64_C(256) << 20)
#define LARGEST_MEMORY  (UINT64_C(960) << 20)
#define RUN_BYTES       (UINT64_C(32) << 20) /* a few ms of copying */
#define LINE_ROUNDS     2000
#define INTERRUPTED     1
#define PAIRED_CORES    64 /* 2016 pairs take some seconds per repeat */

typedef struct limits {
    limits_result_t result;
    outputs_t outputs;
    uint8_t *memory;
    progress_t progress;
} limits_t;

/* ---------------------------------------------------------------- rows --- */

static int add_row(limits_result_t *r, limits_row_t row)
{
    limits_row_t *grown = realloc(r->rows, (r->nrows + 1) * sizeof *grown);
    if (!grown)
        return -1;
    r->rows = grown;
    row.values = calloc(r->opts->repeat ? r->opts->repeat : SAMPLING_MOST,
                        sizeof *row.values);
    if (!row.values)
        return -1;
    r->rows[r->nrows++] = row;
    return 0;
}

/* Of one thread: a source and a target of this size each. */
static size_t share(const limits_result_t *r, unsigned threads)
{
    return r->memory_bytes / threads / 2 & ~(size_t)4095;
}

static int add_copies(limits_result_t *r, uint64_t bytes, unsigned threads)
{
    int rc = 0;
    if (bytes > share(r, threads))
        return 0;
    for (int cached = 1; cached >= 0; cached--)
        for (int kernel = 0; !rc && kernel < COPY_KERNELS; kernel++)
            rc = add_row(r, (limits_row_t){.kernel = (copy_kernel_t)kernel,
                                           .threads = threads,
                                           .cached = cached,
                                           .bytes = bytes});
    return rc;
}

static int add_transfers(limits_result_t *r)
{
    unsigned n = r->cores.count < PAIRED_CORES ? r->cores.count : PAIRED_CORES;
    int rc = 0;
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = a + 1; b < n; b++)
            for (int t = TRANSFER_ONE; !rc && t <= TRANSFER_TWO; t++)
                rc = add_row(r, (limits_row_t){.transfer = (transfer_t)t,
                                               .from = r->cores.cpu[a],
                                               .to = r->cores.cpu[b]});
    return rc;
}

static int make_rows(limits_result_t *r)
{
    unsigned all = r->cores.count;
    int rc = 0;
    for (unsigned i = 0; i < r->opts->nsizes; i++) {
        for (unsigned t = 1; !rc && t < all; t *= 2)
            rc = add_copies(r, r->opts->sizes[i], t);
        if (!rc)
            rc = add_copies(r, r->opts->sizes[i], all);
    }
    return rc ? rc : add_transfers(r);
}

static void free_rows(limits_result_t *r)
{
    for (unsigned i = 0; i < r->nrows; i++)
        free(r->rows[i].values);
    free(r->rows);
}

/* -------------------------------------------------------------- memory --- */

/* Beyond the last cache: twice its size, within what one may reasonably ask
 * for. A virtual machine may be told of a cache that it shares with others. */
static uint64_t choose_memory(const machine_t *m)
{
    uint64_t bytes = 2 * m->l3_bytes;
    if (bytes < SMALLEST_MEMORY)
        bytes = SMALLEST_MEMORY;
    if (bytes > LARGEST_MEMORY)
        bytes = LARGEST_MEMORY;
    if (m->memory_bytes && bytes > m->memory_bytes / 4)
        bytes = m->memory_bytes / 4;
    return bytes & ~UINT64_C(4095);
}

/* Thread @p index of @p threads: sources in the first half of its share. */
static copy_part_t make_part(const limits_t *l, const limits_row_t *row,
                             unsigned index)
{
    size_t half = share(&l->result, row->threads);
    uint8_t *start = l->memory + 2 * half * index;
    uint64_t copies = RUN_BYTES / row->bytes;
    return (copy_part_t){.from = start,
                         .to = start + half,
                         .bytes = row->bytes,
                         .span = row->cached ? row->bytes : half,
                         .copies = copies ? copies : 1,
                         .cpu = l->result.cores.cpu[index]};
}

/* Every part of the memory is first written by the core that uses it when all
 * cores copy; also the sources, which would else be the kernel's one page of
 * zeros. */
static int touch_memory(limits_t *l)
{
    limits_row_t row = {.threads = l->result.cores.count, .bytes = 4096};
    copy_part_t *parts = calloc(row.threads, sizeof *parts);
    double rate = NAN;
    l->memory = aligned_alloc(4096, l->result.memory_bytes);
    if (parts && l->memory) {
        for (unsigned i = 0; i < row.threads; i++) {
            parts[i] = make_part(l, &row, i);
            parts[i].copies = parts[i].span / row.bytes;
        }
        rate = copy_run(parts, row.threads, COPY_PLAIN);
        for (unsigned i = 0; i < row.threads; i++) {
            uint8_t *written = parts[i].to;
            parts[i].to = l->memory + (parts[i].from - l->memory);
            parts[i].from = written;
        }
        if (!isnan(rate))
            rate = copy_run(parts, row.threads, COPY_PLAIN);
    }
    free(parts);
    return isnan(rate) ? -1 : 0;
}

/* ------------------------------------------------------------- measure --- */

/* Uncached copies go on where the repeat before has ended, so that they come
 * back to the same memory as late as possible. */
static double run_copy(const limits_t *l, const limits_row_t *row)
{
    copy_part_t *parts = calloc(row->threads, sizeof *parts);
    double rate = NAN;
    for (unsigned i = 0; parts && i < row->threads; i++) {
        parts[i] = make_part(l, row, i);
        uint64_t copies = parts[i].span / row->bytes;
        parts[i].at = row->count * parts[i].copies % copies *
                      ((row->bytes + 63) & ~UINT64_C(63));
    }
    if (parts)
        rate = copy_run(parts, row->threads, row->kernel);
    free(parts);
    return rate;
}

static int run_row(const limits_t *l, limits_row_t *row)
{
    double value = row->transfer ? cacheline_run(row->from, row->to,
                                                 row->transfer, LINE_ROUNDS)
                                 : run_copy(l, row);
    if (isnan(value))
        return -1;
    row->values[row->count++] = value;
    return 0;
}

static summary_t figure(const void *of, unsigned i)
{
    const limits_t *l = of;
    return limits_summary(&l->result, &l->result.rows[i]);
}

static int repeat_row(void *of, unsigned i)
{
    limits_t *l = of;
    limits_row_t *row = &l->result.rows[i];
    if (interrupt_came())
        return INTERRUPTED;
    progress_show(&l->progress, "railbench limits: repeat %u, %u of %u",
                  row->count + 1, i + 1, l->result.nrows);
    return run_row(l, row);
}

static int measure_rows(limits_t *l)
{
    limits_result_t *r = &l->result;
    sampling_t sampling = options_sampling(r->opts);
    const sampled_t sampled = {.count = r->nrows,
                               .repeat = repeat_row,
                               .figures = r->nrows,
                               .figure = figure,
                               .of = l};
    progress_init(&l->progress);
    sampling_begin(&sampling);
    int rc = sampling_run(&sampling, &sampled);
    progress_clear(&l->progress);
    r->partial = rc != 0;
    return rc == INTERRUPTED ? 0 : rc;
}

/* ---------------------------------------------------------------- test --- */

static int check_sizes(const options_t *opts)
{
    for (unsigned i = 0; i < opts->nsizes; i++) {
        if (opts->sizes[i] >= 1 && opts->sizes[i] <= LARGEST)
            continue;
        fprintf(stderr,
                "railbench limits: --sizes: '%llu' is wrong; allowed: bytes "
                "from 1 to %lluM\n",
                (unsigned long long)opts->sizes[i],
                (unsigned long long)LARGEST >> 20);
        return -1;
    }
    return 0;
}

static int say(const char *text)
{
    fprintf(stderr, "railbench limits: %s\n", text);
    return 1;
}

static int limits_run(const bench_test_t *test, const options_t *opts)
{
    limits_t l = {.result = {.opts = opts}};
    limits_result_t *r = &l.result;
    int status = 2;

    if (check_sizes(opts) ||
        outputs_open(&l.outputs, opts, test->table.command))
        goto out;
    interrupt_catch();
    machine_describe(&r->machine, NULL);
    cores_allowed(&r->cores);
    r->memory_bytes = choose_memory(&r->machine);
    status = 1;
    if (!r->cores.count)
        status = say("the system doesn't tell which cores may be used");
    else if (topology_describe(&r->topology) || make_rows(r) ||
             touch_memory(&l))
        status = say("out of memory or threads");
    else if (measure_rows(&l))
        status = say("out of memory or threads, or a core stood still; the "
                     "result is partial");
    else
        status = r->partial ? say("interrupted; the result is partial") : 0;
    if (r->nrows && r->rows[0].count &&
        outputs_report(&l.outputs, limits_report, r))
        status = 1;
out:
    free(l.memory);
    free_rows(r);
    topology_free(&r->topology);
    outputs_discard(&l.outputs);
    return status;
}

const bench_test_t test_limits = {
    .table = {.command = "railbench limits",
              .summary = "What this machine can do at best: memory copies by "
                         "several threads, cache lines between cores.",
              .groups = OPTIONS_REPEATS},
    .name = "limits",
    .sizes = "4K:64M",
    .time_budget = 15,
    .run = limits_run,
};

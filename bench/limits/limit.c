/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cacheline.h"
#include "bench/clock.h"
#include "copy.h"
#include "limit.h"
#include "link_rate.h"

#define RUN_BYTES   (16u << 20)          /* a few ms of copying */
#define RUN_COPIES  100000               /* ... of short messages */
#define LONGEST     (UINT64_C(64) << 20) /* longer copies are no faster */
#define LINE_ROUNDS 5000
/* After this the peer, which has just answered, sleeps and leaves its core. */
#define QUIET_NS 500000

/* A copy measurement, with a value of each repeat. */
typedef struct probe {
    uint64_t bytes;
    unsigned threads; /* per direction */
    copy_kernel_t kernel;
    double *MBps;
    unsigned count;
} probe_t;

struct limits {
    result_t *result;
    const cores_t *cores;
    unsigned directions;
    drail_mem_t *source_mem, *target_mem;
    uint8_t *source, *target; /* of all directions, one after the other */
    size_t stride;            /* from one direction's to the next one's */
    probe_t *probes;          /* of the present size */
    unsigned nprobes;
    cell_t *cells; /* of the present size */
    int core[2];   /* between which a cache line goes */
    double *us;    /* that it takes, in each repeat of this size */
    unsigned count;
};

const char *limit_kind_name(limit_kind_t kind)
{
    static const char *const names[] = {"", "copy", "link", "cache line"};
    return names[kind];
}

static uint64_t copied_bytes(uint64_t bytes)
{
    return bytes < LONGEST ? bytes : LONGEST;
}

/* Threads that copy at once for a setup; more than cores copy no faster. */
static unsigned setup_threads(const limits_t *c, const setup_t *setup)
{
    unsigned most = c->cores->count / c->directions;
    unsigned threads =
        setup->engine >= DRAIL_ENGINE_THREADED && !setup_one_rail(setup)
            ? c->result->opts->nrails
            : 1;
    return threads < most ? threads : most ? most : 1;
}

/* A message of each direction, striped over the threads. */
static void run_probe(const limits_t *c, probe_t *probe)
{
    drail_stripe_t stripe = {.nrails = probe->threads};
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    copy_part_t parts[2 * DRAIL_MAX_RAILS];
    unsigned count = 0;
    int n = drail_stripe(&stripe, probe->bytes, chunks);
    uint64_t copies = RUN_BYTES / probe->bytes;
    copies = copies < 1 ? 1 : copies > RUN_COPIES ? RUN_COPIES : copies;

    for (unsigned d = 0; d < c->directions; d++)
        for (int i = 0; i < n; i++, count++) {
            size_t at = d * c->stride + chunks[i].offset;
            int cpu = c->cores->cpu[count % c->cores->count];
            parts[count] =
                (copy_part_t){.from = c->source + at,
                              .to = c->target + at,
                              .bytes = chunks[i].bytes,
                              .span = chunks[i].bytes,
                              .copies = copies,
                              .cpu = c->result->opts->no_pin ? -1 : cpu};
        }
    double rate = copy_run(parts, count, probe->kernel);
    if (isfinite(rate))
        probe->MBps[probe->count++] = rate;
}

/*
 * Threads and bytes that may be fastest for a cell: one thread on the whole
 * message; one on a stripe, because a batch writes a rail's stripe again and
 * again before the next rail's; all threads. @return how many of @p needs are
 * filled in.
 */
static unsigned cell_needs(const limits_t *c, const cell_t *cell,
                           probe_t needs[3])
{
    const setup_t *setup = &c->result->plan->setups[cell->setup];
    uint64_t bytes = copied_bytes(cell->bytes);
    uint64_t stripe = bytes / c->result->opts->nrails & ~UINT64_C(63);
    unsigned threads = setup_threads(c, setup), n = 0;
    if (!bytes)
        return 0;
    needs[n++] = (probe_t){.bytes = bytes, .threads = 1};
    if (!setup_one_rail(setup) && stripe)
        needs[n++] = (probe_t){.bytes = stripe, .threads = 1};
    if (threads > 1)
        needs[n++] = (probe_t){.bytes = bytes, .threads = threads};
    return n;
}

static bool same_copy(const probe_t *a, const probe_t *b)
{
    return a->bytes == b->bytes && a->threads == b->threads;
}

static int add_probe(limits_t *c, probe_t probe)
{
    for (unsigned i = 0; i < c->nprobes; i++)
        if (same_copy(&c->probes[i], &probe))
            return 0;
    for (int k = 0; k < COPY_KERNELS; k++) {
        probe.kernel = (copy_kernel_t)k;
        probe.MBps =
            calloc(result_max_repeats(c->result->opts), sizeof *probe.MBps);
        if (!probe.MBps)
            return DRAIL_ENOMEM;
        c->probes[c->nprobes++] = probe;
    }
    return 0;
}

static int add_probes(limits_t *c, const cell_t *cell)
{
    probe_t needs[3];
    unsigned n = cell_needs(c, cell, needs);
    int rc = 0;
    for (unsigned i = 0; !rc && i < n; i++)
        rc = add_probe(c, needs[i]);
    return rc;
}

static void drop_probes(limits_t *c)
{
    for (unsigned i = 0; i < c->nprobes; i++)
        free(c->probes[i].MBps);
    c->nprobes = 0;
}

static summary_t summary_of(const limits_t *c, const double *values, unsigned n)
{
    const sampling_t rule = options_sampling(c->result->opts);
    double sorted[STATS_MAX];
    memcpy(sorted, values, n * sizeof *values);
    return sampling_summary(&rule, sorted, n);
}

/* Of the copies that may be fastest, the one that was. */
static summary_t copy_limit(const limits_t *c, const cell_t *cell)
{
    probe_t needs[3];
    unsigned n = cell_needs(c, cell, needs);
    summary_t best = limit_unknown().figure;
    for (unsigned i = 0; i < c->nprobes; i++)
        for (unsigned k = 0; k < n; k++)
            if (same_copy(&c->probes[i], &needs[k])) {
                summary_t s =
                    summary_of(c, c->probes[i].MBps, c->probes[i].count);
                if (!(s.median <= best.median))
                    best = s;
            }
    return best;
}

/* Memory of the rails, as the rows' own is. */
static int open_copies(limits_t *c, drail_t *rail)
{
    uint64_t longest = 64;
    void *source, *target;
    for (unsigned i = 0; i < c->result->opts->nsizes; i++)
        if (copied_bytes(c->result->opts->sizes[i]) > longest)
            longest = copied_bytes(c->result->opts->sizes[i]);
    c->stride = (longest + 4095) & ~(size_t)4095;
    size_t bytes = c->directions * c->stride;
    int rc = drail_mem_alloc(rail, bytes, DRAIL_ACCESS_LOCAL, &source,
                             &c->source_mem);
    if (!rc)
        rc = drail_mem_alloc(rail, bytes, DRAIL_ACCESS_REMOTE_WRITE, &target,
                             &c->target_mem);
    if (rc)
        return rc;
    c->source = memset(source, 1, bytes);
    c->target = memset(target, 0, bytes);
    c->probes = calloc((size_t)c->result->plan->count * 3 * COPY_KERNELS,
                       sizeof *c->probes);
    notes_add(
        &c->result->notes,
        "ref%%: per cent of the fastest memory copy of the same size by as "
        "many threads, plain or non-temporal, measured in turn with the "
        "rows");
    notes_add(
        &c->result->notes,
        "ref%% can exceed 100: the copies use other buffers than the rows, "
        "and either may lie better in the caches");
    return c->probes ? 0 : DRAIL_ENOMEM;
}

/* One, whatever the size: the target reads no more than the end of a message
 * it polls for, or that of its notification. */
static int open_line(limits_t *c)
{
    result_t *r = c->result;
    int a = r->pinning[0].core, b = r->pinning[1].core;
    if (a < 0 || b < 0) {
        a = c->cores->cpu[0];
        b = c->cores->cpu[c->cores->count - 1];
    }
    if (a == b) {
        notes_add(&r->notes, "ref%%: none: both ranks share core %d", a);
        return 0;
    }
    c->core[0] = a;
    c->core[1] = b;
    c->us = calloc(result_max_repeats(r->opts), sizeof *c->us);
    notes_add(
        &r->notes,
        "ref%%: per cent: the transfer of a cache line from core %d to core "
        "%d, measured in turn with the rows, over the time of the row",
        a, b);
    return c->us ? 0 : DRAIL_ENOMEM;
}

static bool all_in_memory(const result_t *r, const setup_t *setup)
{
    for (unsigned i = 0; i < r->opts->nrails; i++)
        if (!(setup_one_rail(setup) && i != setup->rail) &&
            !rail_in_memory(&r->rails[i]))
            return false;
    return true;
}

static bool any_modelled(const result_t *r)
{
    for (unsigned i = 0; i < r->opts->nrails; i++)
        if (fabric_modelled(r->rails[i].fabric))
            return true;
    return false;
}

static limit_t choose(const result_t *r, const setup_t *setup)
{
    double rate = setup_one_rail(setup) ? link_rate(&r->rails[setup->rail], 1)
                                        : link_rate(r->rails, r->opts->nrails);
    bool memory = all_in_memory(r, setup);
    limit_t limit = limit_unknown();
    if (r->test->bound == BOUND_LATENCY) {
        /* a modelled latency is far above what memory needs; what is read
         * again and again lies in the reader's cache */
        limit.kind =
            memory && !rate && setup->op != OP_GET ? LIMIT_LINE : LIMIT_NONE;
    } else if (rate > 0) {
        limit.kind = LIMIT_LINK;
        limit.figure.median = rate * r->test->loops[0]->directions;
    } else {
        /* one of copies of memory in caches */
        limit.kind =
            memory && !options_buffers(r->opts) ? LIMIT_COPY : LIMIT_NONE;
    }
    return limit;
}

static void choose_all(result_t *r, const cores_t *cores,
                       unsigned count[LIMIT_KINDS])
{
    for (unsigned i = 0; i < r->ncells; i++) {
        cell_t *cell = &r->cells[i];
        cell->limit = r->test->bound != BOUND_NONE && cores->count
                          ? choose(r, &r->plan->setups[cell->setup])
                          : limit_unknown();
        count[cell->limit.kind]++;
    }
}

int limits_open(limits_t **limits, result_t *r, drail_t *rail,
                const cores_t *cores)
{
    unsigned count[LIMIT_KINDS] = {0};
    limits_t *c = *limits = calloc(1, sizeof *c);
    int rc = 0;
    if (!c)
        return DRAIL_ENOMEM;
    *c = (limits_t){.result = r,
                    .cores = cores,
                    .directions = r->test->loops[0]->directions};
    choose_all(r, cores, count);
    if (count[LIMIT_COPY])
        rc = open_copies(c, rail);
    if (!rc && count[LIMIT_LINE])
        rc = open_line(c);
    if (count[LIMIT_LINK])
        notes_add(
            &r->notes,
            "ref%%: per cent of the links' rates as the rails tell them; a "
            "port, adapter or bus that rails share counts once");
    if (r->test->bound == BOUND_LATENCY && any_modelled(r))
        notes_add(&r->notes,
                  "ref%%: none over modelled rails: the model sets their "
                  "latency, not this machine");
    return rc;
}

void limits_close(limits_t *c)
{
    if (!c)
        return;
    drop_probes(c);
    if (c->source_mem)
        drail_mem_release(c->source_mem);
    if (c->target_mem)
        drail_mem_release(c->target_mem);
    free(c->probes);
    free(c->us);
    free(c);
}

int limits_size(limits_t *c, cell_t *cells)
{
    int rc = 0;
    drop_probes(c);
    c->cells = cells;
    c->count = 0;
    for (unsigned i = 0; !rc && i < c->result->plan->count; i++)
        if (cells[i].limit.kind == LIMIT_COPY)
            rc = add_probes(c, &cells[i]);
    return rc;
}

bool limits_measured(const limits_t *c)
{
    return c->nprobes || c->us;
}

void limits_repeat(limits_t *c)
{
    nanosleep(&(struct timespec){.tv_nsec = QUIET_NS}, NULL);
    for (unsigned i = 0; i < c->nprobes; i++)
        run_probe(c, &c->probes[i]);
    if (!c->us)
        return;
    double ns =
        cacheline_run(c->core[0], c->core[1], TRANSFER_ONE, LINE_ROUNDS);
    if (isfinite(ns))
        c->us[c->count++] = ns / 1e3;
}

void limits_conclude(limits_t *c)
{
    for (unsigned i = 0; i < c->result->plan->count; i++) {
        limit_t *limit = &c->cells[i].limit;
        if (limit->kind == LIMIT_COPY)
            limit->figure = copy_limit(c, &c->cells[i]);
        else if (limit->kind == LIMIT_LINE && c->us)
            limit->figure = summary_of(c, c->us, c->count);
    }
}

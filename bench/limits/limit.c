/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cacheline.h"
#include "bench/clock.h"
#include "copy.h"
#include "limit.h"
#include "link_rate.h"

#define ROUNDS      5
#define MIN_ROUNDS  3
#define BUDGET_NS   UINT64_C(1000000000)
#define RUN_BYTES   (24u << 20)          /* a few ms of copying */
#define RUN_COPIES  100000               /* ... of short messages */
#define LONGEST     (UINT64_C(64) << 20) /* longer copies are no faster */
#define LINE_ROUNDS 5000
#define LINE_RUNS   15

/* One copy measurement, repeated. */
typedef struct probe {
    uint64_t bytes;
    unsigned threads; /* per direction */
    copy_kernel_t kernel;
    double MBps[ROUNDS];
    unsigned count;
} probe_t;

typedef struct copier {
    const result_t *result;
    const cores_t *cores;
    unsigned directions;
    uint8_t *source, *target; /* of all directions, one after the other */
    size_t stride;            /* from one direction's to the next one's */
    probe_t *probes;
    unsigned nprobes;
} copier_t;

const char *limit_kind_name(limit_kind_t kind)
{
    static const char *const names[] = {"", "copy", "link", "cache lines"};
    return names[kind];
}

static uint64_t copied_bytes(uint64_t bytes)
{
    return bytes < LONGEST ? bytes : LONGEST;
}

/* Threads that copy at once for a setup; more than cores copy no faster. */
static unsigned setup_threads(const copier_t *c, const setup_t *setup)
{
    unsigned most = c->cores->count / c->directions;
    unsigned threads =
        setup->engine >= DRAIL_ENGINE_THREADED && !setup_one_rail(setup)
            ? c->result->opts->nrails
            : 1;
    return threads < most ? threads : most ? most : 1;
}

static double median_of(const probe_t *probe)
{
    double values[ROUNDS];
    memcpy(values, probe->MBps, sizeof values);
    return stats_summary(values, probe->count).median;
}

/* A message of each direction, striped over the threads. */
static void run_probe(const copier_t *c, probe_t *probe)
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
 * What may be fastest for a cell: one thread on the whole message; one on a
 * stripe, because a batch writes a rail's stripe again and again before the
 * next rail's; all threads. @return how many of @p needs are filled in.
 */
static unsigned cell_needs(const copier_t *c, const cell_t *cell,
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

static void add_probe(copier_t *c, probe_t probe)
{
    for (unsigned i = 0; i < c->nprobes; i++)
        if (same_copy(&c->probes[i], &probe))
            return;
    for (int k = 0; k < COPY_KERNELS; k++) {
        probe.kernel = (copy_kernel_t)k;
        c->probes[c->nprobes++] = probe;
    }
}

static void add_probes(copier_t *c, const cell_t *cell)
{
    probe_t needs[3];
    unsigned n = cell_needs(c, cell, needs);
    for (unsigned i = 0; i < n; i++)
        add_probe(c, needs[i]);
}

static double copy_limit(const copier_t *c, const cell_t *cell)
{
    probe_t needs[3];
    unsigned n = cell_needs(c, cell, needs);
    double best = NAN;
    for (unsigned i = 0; i < c->nprobes; i++)
        for (unsigned k = 0; k < n; k++)
            if (same_copy(&c->probes[i], &needs[k]))
                best = fmax(best, median_of(&c->probes[i]));
    return best;
}

static int copier_open(copier_t *c)
{
    uint64_t longest = 64;
    for (unsigned i = 0; i < c->result->opts->nsizes; i++)
        if (copied_bytes(c->result->opts->sizes[i]) > longest)
            longest = copied_bytes(c->result->opts->sizes[i]);
    c->stride = (longest + 4095) & ~(size_t)4095;
    c->source = aligned_alloc(4096, c->directions * c->stride);
    c->target = aligned_alloc(4096, c->directions * c->stride);
    c->probes =
        calloc((size_t)c->result->ncells * 3 * COPY_KERNELS, sizeof *c->probes);
    if (!c->source || !c->target || !c->probes)
        return DRAIL_ENOMEM;
    memset(c->source, 1, c->directions * c->stride);
    memset(c->target, 0, c->directions * c->stride);
    return 0;
}

static void copier_close(copier_t *c)
{
    free(c->source);
    free(c->target);
    free(c->probes);
}

static int limit_by_copy(result_t *r, const cores_t *cores)
{
    copier_t c = {.result = r,
                  .cores = cores,
                  .directions = r->test->loops[0]->directions};
    uint64_t start = clock_ns();
    int rc = copier_open(&c);
    if (rc)
        goto out;
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].limit.kind == LIMIT_COPY)
            add_probes(&c, &r->cells[i]);
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round >= MIN_ROUNDS && clock_ns() - start > BUDGET_NS)
            break;
        for (unsigned i = 0; i < c.nprobes; i++)
            run_probe(&c, &c.probes[i]);
    }
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].limit.kind == LIMIT_COPY)
            r->cells[i].limit.value = copy_limit(&c, &r->cells[i]);
    notes_add(&r->notes,
              "limit%%: of memory copies with the same sizes and reuse of "
              "buffers, by 1 thread or up to 1 per rail and core, plain "
              "or non-temporal, whichever was faster before this run");
out:
    copier_close(&c);
    return rc;
}

/* Two cache lines: payload and flag. The same for every cell. */
static void limit_by_lines(result_t *r, const cores_t *cores)
{
    int a = r->pinning[0].core, b = r->pinning[1].core;
    double values[LINE_RUNS];
    if (a < 0 || b < 0) {
        a = cores->cpu[0];
        b = cores->cpu[cores->count - 1];
    }
    if (a == b)
        return;
    for (unsigned i = 0; i < LINE_RUNS; i++)
        values[i] = cacheline_run(a, b, TRANSFER_TWO, LINE_ROUNDS) / 1e3;
    double us = stats_summary(values, LINE_RUNS).median;
    for (unsigned i = 0; i < r->ncells; i++)
        if (r->cells[i].limit.kind == LIMIT_LINES)
            r->cells[i].limit.value = us;
    notes_add(&r->notes,
              "limit%%: of the transfer of 2 cache lines (payload, then flag) "
              "from core %d to core %d, which took %.0f ns before this run",
              a, b, us * 1e3);
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
    if (r->test->bound == BOUND_LATENCY)
        /* a modelled latency is far above what memory needs */
        return (limit_t){memory && !rate ? LIMIT_LINES : LIMIT_NONE, NAN};
    if (rate > 0)
        return (limit_t){LIMIT_LINK, rate * r->test->loops[0]->directions};
    return (limit_t){memory ? LIMIT_COPY : LIMIT_NONE, NAN};
}

int limit_measure(result_t *r, const cores_t *cores)
{
    unsigned count[LIMIT_KINDS] = {0};
    int rc = 0;
    for (unsigned i = 0; i < r->ncells; i++) {
        cell_t *cell = &r->cells[i];
        cell->limit = (limit_t){LIMIT_NONE, NAN};
        if (r->test->bound != BOUND_NONE && cores->count)
            cell->limit = choose(r, &r->plan->setups[cell->setup]);
        count[cell->limit.kind]++;
    }
    if (count[LIMIT_COPY])
        rc = limit_by_copy(r, cores);
    if (count[LIMIT_LINES])
        limit_by_lines(r, cores);
    if (count[LIMIT_LINK])
        notes_add(&r->notes,
                  "limit%%: of the links' rates, as the rails tell them; what "
                  "rails share (port, adapter, bus) counts once");
    if (r->test->bound == BOUND_LATENCY && any_modelled(r))
        notes_add(&r->notes,
                  "limit%%: none over modelled rails: their latency is the "
                  "model's, no property of this machine");
    return rc;
}

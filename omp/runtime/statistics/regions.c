/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/statistics/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "omp/runtime/icv.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/statistics/symbols.h"

/* All members have 8 bytes. */
union cost {
    struct {
        uint64_t times, ns;
        ddsm_stats_t memory;
    };
    uint64_t values[2 + sizeof(ddsm_stats_t) / sizeof(uint64_t)];
};
enum { VALUES = sizeof(union cost) / sizeof(uint64_t) };

/* The last place has all regions for which no other place was left. */
enum { REGIONS = 128 };
static struct region {
    uintptr_t function;
    bool is_told; /* print_regions() */
    union cost cost;
} regions[REGIONS];
static union cost before; /* the region that runs */

static struct {
    const struct symbol *symbol;
    size_t count;
} table;

static union cost cost_now(void)
{
    struct timespec now;
    union cost c = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    c.ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    memory_stats(&c.memory);
    return c;
}

static struct region *region_of(uintptr_t function)
{
    unsigned i = 0;
    while (i + 1 < REGIONS && regions[i].function &&
           regions[i].function != function)
        i++;
    if (i + 1 < REGIONS)
        regions[i].function = function;
    return &regions[i];
}

void regions_begin(void)
{
    if (settings.stats)
        before = cost_now();
}

void regions_end(void (*function)(void *))
{
    if (!settings.stats)
        return;
    struct region *r = region_of((uintptr_t)function);
    const union cost after = cost_now();
    for (unsigned i = 0; i < VALUES; i++)
        r->cost.values[i] += after.values[i] - before.values[i];
    /* in the first execution pages get to their places: a rank that had a page
     * alone says that it may have written it */
    if (!r->cost.times++)
        r->cost.memory.shared_writes = 0;
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* ---------------------------------------------------------------- regions */

static const char *name_of(uintptr_t function)
{
    const struct symbol *s = symbols_in(table.symbol, table.count, function, 1);
    return s ? s->name : function ? "(no symbol)" : "(others)";
}

/* What to do, if something takes a fifth of the threads' time. */
static const char *advice(const union cost *all)
{
    const ddsm_stats_t *m = &all->memory;
    const uint64_t much = all->ns / 5;
    if (m->lock_ns > much)
        return "; use reductions in place of critical sections and locks";
    if (m->fault_ns + m->barrier_ns <= much)
        return "";
    if (m->shared_writes && 2 * m->shared_writes >= m->read_faults +
                                                        m->write_faults +
                                                        m->fetched_pages)
        return "; ranks write the same pages: give threads long pieces";
    if (m->fault_ns > much)
        return "; faults: let threads use the same parts of arrays in all "
               "loops";
    return "; barriers: threads wait for one another";
}

/* @all: the sum over the ranks. */
static void print_region(uintptr_t function, const union cost *here,
                         const union cost *all)
{
    const ddsm_stats_t *m = &all->memory;
    fprintf(
        stderr,
        "railomp: %#14lx %8llu %10.3f %10.3f %9llu %9.3f %9.3f %13llu %10llu "
        "%13llu %8llu %9.3f  %s%s\n",
        (unsigned long)function, (unsigned long long)here->times, ms(here->ns),
        ms(m->barrier_ns),
        (unsigned long long)(m->read_faults + m->write_faults), ms(m->fault_ns),
        ms(m->ahead_ns),
        (unsigned long long)(m->fetched_pages * memory_page_bytes()),
        (unsigned long long)(m->diff_bytes + m->packed_bytes),
        (unsigned long long)m->shared_writes, (unsigned long long)m->locks,
        ms(m->lock_ns), name_of(function), advice(all));
}

static void add_cost(union cost *sum, const union cost *cost)
{
    for (unsigned i = 0; i < VALUES; i++)
        sum->values[i] += cost->values[i];
}

/* What this rank has of a region; 0: of all others that were not told. Ranks
 * that have left some regions out have other ones in their last place. */
static union cost cost_of(uintptr_t function)
{
    union cost sum = {0};
    for (unsigned i = 0; i < REGIONS; i++) {
        struct region *r = &regions[i];
        if (r->is_told || (function && r->function != function))
            continue;
        add_cost(&sum, &r->cost);
        r->is_told = true;
    }
    return sum;
}

/* Rank 0 takes part in all regions, so it has their list. */
static void print_regions(void)
{
    const bool is_first = memory_rank() == 0;
    if (is_first)
        fprintf(stderr,
                "railomp:         region    times    time_ms barrier_ms    "
                "faults  fault_ms  ahead_ms fetched_bytes  put_bytes "
                "shared_writes    "
                "locks   lock_ms  name\n");
    for (unsigned i = 0; i < REGIONS; i++) {
        uint64_t told[2] = {0};
        if (is_first) {
            told[0] = regions[i].function;
            told[1] = regions[i].cost.times;
        }
        memory_sum(told, 2);
        if (!told[1])
            continue;
        const union cost here = cost_of(told[0]);
        union cost all = here;
        memory_sum(all.values, VALUES);
        if (is_first)
            print_region(told[0], &here, &all);
    }
}

/* -------------------------------------------------------------- variables */

enum { FAULTS, FETCHES, INVALIDATED, DIFFS, SHARED, COLUMNS };
struct usage {
    uint64_t value[COLUMNS];
};

/* Of each symbol; then of memory without a name. */
static void add_page(const ddsm_page_cost_t *cost, void *context)
{
    struct usage *usage = context;
    const struct symbol *s = symbols_in(
        table.symbol, table.count, (uintptr_t)cost->start, memory_page_bytes());
    uint64_t *value = usage[s ? (size_t)(s - table.symbol) : table.count].value;
    value[FAULTS] += cost->read_faults + cost->write_faults;
    value[FETCHES] += cost->fetches;
    value[INVALIDATED] += cost->invalidated;
    value[DIFFS] += cost->diffs;
    value[SHARED] += cost->shared_writes;
}

static uint64_t weight(const struct usage *u)
{
    return u->value[FAULTS] + u->value[FETCHES] + u->value[DIFFS];
}

/* NULL: memory without a name. */
static void print_variable(const struct usage *u, const struct symbol *s)
{
    fprintf(stderr, "railomp: %#14lx %9llu %9llu %11llu %9llu %8llu  %s\n",
            s ? (unsigned long)s->start : 0ul,
            (unsigned long long)u->value[FAULTS],
            (unsigned long long)u->value[FETCHES],
            (unsigned long long)u->value[INVALIDATED],
            (unsigned long long)u->value[DIFFS],
            (unsigned long long)u->value[SHARED],
            s ? s->name : "(allocated memory and stacks)");
}

static void print_most(struct usage *usage)
{
    enum { MOST = 10 };
    fprintf(stderr,
            "railomp:       variable    faults   fetches invalidated     "
            "diffs   shared  name\n");
    for (unsigned n = 0; n < MOST; n++) {
        size_t most = 0;
        for (size_t i = 1; i <= table.count; i++)
            if (weight(&usage[i]) > weight(&usage[most]))
                most = i;
        if (!weight(&usage[most]))
            return;
        print_variable(&usage[most],
                       most < table.count ? &table.symbol[most] : NULL);
        usage[most] = (struct usage){0};
    }
}

/* In few messages: a program may have many symbols. */
static void sum_usage(uint64_t *value, size_t count)
{
    enum { AT_ONCE = 4096 }; /* the most of ddsm_reduce() */
    for (size_t i = 0; i < count; i += AT_ONCE)
        memory_sum(value + i, count - i < AT_ONCE ? count - i : AT_ONCE);
}

static void print_variables(void)
{
    struct usage *usage = calloc(table.count + 1, sizeof *usage);
    /* all ranks, or none */
    uint64_t have = usage != NULL;
    memory_sum(&have, 1);
    if (have == memory_ranks()) {
        memory_page_costs(add_page, usage);
        sum_usage(usage[0].value, (table.count + 1) * COLUMNS);
        if (memory_rank() == 0)
            print_most(usage);
    }
    free(usage);
}

void regions_print(void)
{
    table.symbol = symbols_read(&table.count);
    uint64_t counts = table.count;
    memory_sum(&counts, 1);
    if (counts != table.count * memory_ranks()) /* a rank can't read it */
        table.count = 0;
    print_regions();
    if (memory_ranks() > 1)
        print_variables();
}

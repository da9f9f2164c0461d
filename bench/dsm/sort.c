/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts integers by buckets, as NAS IS does. Ranks count their keys; under
 * locks each adds its counts to those of all, and so learns where its keys go
 * in their buckets; after a barrier all write them there, many ranks to a page;
 * then each sorts the buckets that begin in its part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "examples/cluster_openmp/kernels.h"
#include "program.h"

#define KEY_BITS 16
#define BUCKETS  (1u << (KEY_BITS - SORT_LOW_BITS))

/* Operations per key: to count it, to move it, and to sort it within its
 * bucket. */
#define COUNT_OPERATIONS 3
#define MOVE_OPERATIONS  6
#define SORT_OPERATIONS  4

typedef struct sort {
    size_t n, first, last; /* this rank's keys, and its part of the result */
    uint32_t *keys, *sorted, *count; /* shared; count: of each bucket */
    unsigned pages, rank;            /* of the counts, each with its lock */
    size_t some;                     /* counts of a page */
    uint32_t mine[BUCKETS];          /* the rank's keys of each bucket, … */
    uint32_t at[BUCKETS];            /* … and where the next one goes in it */
    uint32_t start[BUCKETS + 1];     /* of each bucket */
} sort_t;

static size_t key_bytes(const options_t *o)
{
    return o->dsm.keys * sizeof(uint32_t);
}

static uint64_t shared_bytes(const options_t *o, unsigned ranks, uint64_t page)
{
    (void)ranks;
    return 2 * program_pages(key_bytes(o), page) +
           program_pages(BUCKETS * sizeof(uint32_t), page);
}

static void describe(const options_t *o, char *text, size_t size)
{
    snprintf(text, size, "%llu integers of %d bits",
             (unsigned long long)o->dsm.keys, KEY_BITS);
}

/* As in NAS IS, keys are the mean of four random numbers, so they are not
 * uniform. */
static uint32_t make_key(unsigned seed, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < 4; k++)
        sum += program_uniform(seed, 4 * i + k);
    return (uint32_t)(sum / 4 * (1 << KEY_BITS));
}

/* ------------------------------------------------------------ one alone --- */

static double operations(const options_t *o)
{
    return (double)o->dsm.keys *
           (COUNT_OPERATIONS + MOVE_OPERATIONS + SORT_OPERATIONS);
}

/* A counting sort. */
static void *alone(const options_t *o, unsigned seed, uint64_t *ns)
{
    const size_t n = o->dsm.keys;
    uint32_t *keys = malloc(key_bytes(o));
    uint32_t *count = calloc(1u << KEY_BITS, sizeof *count);
    if (!keys || !count) {
        free(keys);
        keys = NULL;
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = make_key(seed, i);
    uint64_t from = clock_ns();
    for (size_t i = 0; i < n; i++)
        count[keys[i]]++;
    for (size_t i = 0, value = 0; i < n; value++)
        while (count[value] && count[value]--)
            keys[i++] = (uint32_t)value;
    *ns = clock_ns() - from;
out:
    free(count);
    return keys;
}

/* ------------------------------------------------------------ all ranks --- */

static void *open_keys(dsm_bed_t *bed)
{
    const ddsm_place_t place = {.element = sizeof(uint32_t)};
    const options_t *o = bed->opts;
    sort_t *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = o->dsm.keys;
    s->rank = bed->rank;
    ddsm_part(bed->space, 0, s->n, &s->first, &s->last);
    s->some = bed->page / sizeof *s->count;
    s->pages = (unsigned)((BUCKETS + s->some - 1) / s->some);
    s->keys = ddsm_alloc(bed->space, key_bytes(o), &place);
    s->sorted = ddsm_alloc(bed->space, key_bytes(o), &place);
    s->count = ddsm_alloc(bed->space, BUCKETS * sizeof *s->count, &place);
    if (s->keys && s->sorted && s->count)
        return s;
    free(s);
    return NULL;
}

/* Writes the keys, and erases the result of an earlier run. */
static void begin(const program_run_t *r)
{
    sort_t *s = r->data;
    for (size_t i = s->first; i < s->last; i++) {
        s->keys[i] = make_key(r->seed, i);
        s->sorted[i] = UINT32_MAX;
    }
    if (s->rank == 0)
        memset(s->count, 0, BUCKETS * sizeof *s->count);
    memset(s->mine, 0, sizeof s->mine);
}

static void count_keys(program_run_t *r)
{
    sort_t *s = r->data;
    program_enter(r);
    for (size_t i = s->first; i < s->last; i++)
        s->mine[s->keys[i] >> SORT_LOW_BITS]++;
    program_leave(r, (double)(s->last - s->first) * COUNT_OPERATIONS);
}

static void add_page(sort_t *s, size_t page)
{
    for (size_t b = page * s->some; b < (page + 1) * s->some && b < BUCKETS;
         b++) {
        s->at[b] = s->count[b];
        s->count[b] += s->mine[b];
    }
}

/* Adds counts page by page. Ranks begin with different pages, so that they
 * rarely wait for one lock. */
static int add_counts(program_run_t *r)
{
    sort_t *s = r->data;
    int rc = 0;
    for (unsigned turn = 0; !rc && turn < s->pages; turn++) {
        const unsigned page = (turn + s->rank) % s->pages;
        rc = program_lock(r, page);
        if (rc)
            break;
        program_enter(r);
        add_page(s, page);
        program_leave(r, 0);
        rc = program_unlock(r, page);
    }
    return rc ? rc : program_barrier(r);
}

static int move_keys(program_run_t *r)
{
    sort_t *s = r->data;
    /* a rank's keys go to nearly all pages */
    int rc = program_prefetch(r, s->sorted, s->n * sizeof *s->sorted, true);
    if (rc)
        return rc;
    program_enter(r);
    for (size_t b = 0; b < BUCKETS; b++)
        s->start[b + 1] = s->start[b] + s->count[b];
    for (size_t i = s->first; i < s->last; i++) {
        const uint32_t key = s->keys[i], bucket = key >> SORT_LOW_BITS;
        s->sorted[s->start[bucket] + s->at[bucket]++] = key;
    }
    program_leave(r, (double)(s->last - s->first) * MOVE_OPERATIONS);
    return program_barrier(r);
}

static int sort_buckets(program_run_t *r)
{
    const sort_t *s = r->data;
    double sum = 0;
    int rc = program_prefetch(r, s->sorted + s->first,
                              (s->last - s->first) * sizeof *s->sorted, true);
    if (rc)
        return rc;
    program_enter(r);
    for (size_t b = 0; b < BUCKETS; b++) {
        const size_t n = s->start[b + 1] - s->start[b];
        if (s->start[b] < s->first || s->start[b] >= s->last)
            continue;
        sort_bucket(s->sorted + s->start[b], n);
        sum += (double)n * SORT_OPERATIONS;
    }
    program_leave(r, sum);
    return program_barrier(r);
}

static int run(program_run_t *r)
{
    count_keys(r);
    int rc = add_counts(r);
    if (!rc)
        rc = move_keys(r);
    return rc ? rc : sort_buckets(r);
}

static bool is_right(const program_run_t *r, const void *solution)
{
    const sort_t *s = r->data;
    return !memcmp(s->sorted + s->first, (const uint32_t *)solution + s->first,
                   (s->last - s->first) * sizeof *s->sorted);
}

static const dsm_program_t program = {.describe = describe,
                                      .bytes = shared_bytes,
                                      .open = open_keys,
                                      .close = free,
                                      .begin = begin,
                                      .run = run,
                                      .is_right = is_right,
                                      .alone = alone,
                                      .operations = operations};

const dsm_part_t dsm_sort = {
    .name = "sort",
    .kind = DSM_SORT,
    .what = "integers by buckets, counted under locks: the slowest rank; "
            "faults, barriers and locks, means over the ranks; gain: of their "
            "sum",
    .program = &program,
    PROGRAM_MEASURES(4),
};

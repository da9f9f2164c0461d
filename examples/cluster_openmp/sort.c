/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts integers by buckets, as NAS IS does. Each rank counts its keys. Under a
 * lock it adds its counts to the shared ones, and so learns where its keys go
 * within their buckets. After a barrier all ranks write their keys there, many
 * ranks to one page. Then each rank sorts the buckets that begin in its part.
 *
 * cc -fopenmp sort.c cluster.c options.c $(pkg-config --cflags --libs ddsm)
 */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

enum {
    KEY_BITS = 18,
    LOW_BITS = 6, /* of the keys of one bucket */
    VALUES = 1 << LOW_BITS,
    BUCKETS = 1 << (KEY_BITS - LOW_BITS)
};

typedef struct sort {
    cluster_t *c;
    size_t n;
    unsigned iteration;
    /* shared: */
    uint32_t *keys, *sorted;
    uint32_t *count; /* keys of each bucket, of the ranks so far */
    /* this rank's own: */
    uint32_t mine[BUCKETS];      /* its keys of each bucket */
    uint32_t at[BUCKETS];        /* where the next one goes in it */
    uint32_t start[BUCKETS + 1]; /* of each bucket */
} sort_t;

/* Fetches a range at once, not fault by fault. */
static void prefetch(const sort_t *s, uint32_t *keys, size_t n, bool writable)
{
    cluster_prefetch(s->c, keys, n * sizeof *keys, writable);
}

/* Keys are not spread evenly, as in NAS IS: sums of four numbers. Those of an
 * iteration are made of what the one before has sorted, so that what was wrong
 * there is wrong at the end. */
static uint32_t make_key(const cluster_t *c, unsigned iteration, uint32_t old,
                         size_t i)
{
    const uint64_t x = cluster_random(c->ask.seed + iteration, i + old);
    return (uint32_t)((x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) +
                      (x >> 48));
}

static void make_keys(size_t first, size_t last, void *context)
{
    sort_t *s = context;
    uint32_t *mine = s->mine;
    memset(mine, 0, sizeof s->mine);
    prefetch(s, s->sorted + first, last - first, false);
    prefetch(s, s->keys + first, last - first, true);
#pragma omp parallel for reduction(+ : mine[:BUCKETS])
    for (size_t i = first; i < last; i++) {
        s->keys[i] = make_key(s->c, s->iteration, s->sorted[i], i);
        mine[s->keys[i] >> LOW_BITS]++;
    }
}

/* One lock for each page of the counts; ranks begin with different ones. */
static void add_counts(sort_t *s)
{
    const size_t some = ddsm_page_bytes(s->c->d) / sizeof *s->count;
    const size_t pages = (BUCKETS + some - 1) / some;
    for (size_t turn = 0; turn < pages; turn++) {
        const size_t page = (turn + s->c->rank) % pages;
        const size_t end = (page + 1) * some;
        must(s->c, ddsm_lock(s->c->d, (unsigned)page));
        for (size_t b = page * some; b < end && b < BUCKETS; b++) {
            s->at[b] = s->count[b];
            s->count[b] += s->mine[b];
        }
        cluster_pause(s->c);
        must(s->c, ddsm_unlock(s->c->d, (unsigned)page));
    }
}

static void move_keys(size_t first, size_t last, void *context)
{
    sort_t *s = context;
    prefetch(s, s->sorted, s->n, true); /* keys go to nearly all pages */
#pragma omp parallel for
    for (size_t i = first; i < last; i++) {
        const uint32_t key = s->keys[i];
        uint32_t to;
        if (i % 1024 == 0)
            cluster_pause(s->c);
#pragma omp atomic capture
        to = s->at[key >> LOW_BITS]++;
        s->sorted[s->start[key >> LOW_BITS] + to] = key;
    }
}

/* Sorts one bucket by the low bits of its keys. */
static void sort_bucket(uint32_t *keys, size_t n)
{
    uint32_t count[VALUES] = {0};
    const uint32_t high = n ? keys[0] >> LOW_BITS << LOW_BITS : 0;
    for (size_t i = 0; i < n; i++)
        count[keys[i] % VALUES]++;
    for (uint32_t value = 0; value < VALUES; value++)
        while (count[value]--)
            *keys++ = high | value;
}

static void sort_buckets(size_t first, size_t last, void *context)
{
    const sort_t *s = context;
    prefetch(s, s->sorted + first, last - first, true);
#pragma omp parallel for schedule(dynamic, 16)
    for (size_t b = 0; b < BUCKETS; b++) {
        if (s->start[b] < first || s->start[b] >= last)
            continue;
        cluster_pause(s->c);
        sort_bucket(s->sorted + s->start[b], s->start[b + 1] - s->start[b]);
    }
}

/* The same by one thread: values are counted, and written in their order. */
static bool check(const sort_t *s)
{
    cluster_t *c = s->c;
    uint32_t *sorted = cluster_private(c, s->n, sizeof *sorted);
    uint32_t *count = cluster_private(c, 1 << KEY_BITS, sizeof *count);
    const double start = cluster_seconds();
    for (unsigned t = 0; t < c->ask.iterations; t++) {
        memset(count, 0, sizeof *count << KEY_BITS);
        for (size_t i = 0; i < s->n; i++)
            count[make_key(c, t, sorted[i], i)]++;
        for (size_t i = 0, value = 0; i < s->n; value++)
            while (count[value] && count[value]--)
                sorted[i++] = (uint32_t)value;
    }
    c->alone = cluster_seconds() - start;
    prefetch(s, s->sorted, s->n, false);
    const bool same =
        cluster_same(c, "key", s->sorted, sorted, s->n, sizeof *sorted);
    free(count);
    free(sorted);
    return same;
}

static bool run(cluster_t *c)
{
    const size_t n = c->ask.size, bytes = n * sizeof(uint32_t);
    const ddsm_place_t place = {.element = sizeof(uint32_t)};
    ddsm_t *d = cluster_open(c, 2 * bytes + sizeof(uint32_t[BUCKETS]), 3);
    sort_t *s = cluster_private(c, 1, sizeof *s);
    s->c = c;
    s->n = n;
    s->keys = cluster_alloc(c, bytes, &place);
    s->sorted = cluster_alloc(c, bytes, &place);
    s->count = cluster_alloc(c, sizeof(uint32_t[BUCKETS]), &place);
    cluster_start(c);
    for (s->iteration = 0; s->iteration < c->ask.iterations; s->iteration++) {
        if (c->rank == 0)
            memset(s->count, 0, sizeof(uint32_t[BUCKETS]));
        must(c, ddsm_for(d, 0, n, make_keys, s));
        add_counts(s);
        must(c, ddsm_barrier(d));
        for (size_t b = 0; b < BUCKETS; b++)
            s->start[b + 1] = s->start[b] + s->count[b];
        must(c, ddsm_for(d, 0, n, move_keys, s));
        must(c, ddsm_for(d, 0, n, sort_buckets, s));
    }
    cluster_stop(c);
    const bool same = c->rank || check(s);
    free(s);
    return same;
}

int main(int argc, char **argv)
{
    static const program_t sort = {
        .name = "sort",
        .about = "Sorts integers in shared memory by buckets.",
        .size_is = "keys",
        .size = 1 << 20,
        .least = 1,
        .most = 1u << 31,
        .iterations = 10,
        .run = run,
    };
    return cluster_main(&sort, argc, argv);
}

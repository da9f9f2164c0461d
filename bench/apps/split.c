/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "split.h"

uint64_t split_cost(const body_t *bodies, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += bodies[i].cost;
    return sum;
}

void split_sample(const body_t *bodies, size_t n, samples_t *s)
{
    uint64_t before = 0;
    unsigned taken = 0;
    memset(s, 0, sizeof *s);
    s->cost = split_cost(bodies, n);
    for (size_t i = 0; i < n; i++) {
        before += bodies[i].cost;
        while (taken < SPLIT_KEYS &&
               before * (SPLIT_KEYS + 1) >= s->cost * (taken + 1))
            s->key[taken++] = bodies[i].key;
    }
}

typedef struct weighed {
    uint64_t key, cost;
} weighed_t;

static int compare(const void *a, const void *b)
{
    const weighed_t *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

int split_keys(const samples_t *samples, unsigned ranks, uint64_t *split)
{
    size_t n = (size_t)ranks * SPLIT_KEYS;
    weighed_t *all = malloc(n * sizeof *all);
    uint64_t total = 0, before = 0;
    unsigned rank = 1;
    if (!all)
        return DRAIL_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const samples_t *s = &samples[i / SPLIT_KEYS];
        all[i] = (weighed_t){s->key[i % SPLIT_KEYS], s->cost};
        total += s->cost;
    }
    qsort(all, n, sizeof *all, compare);
    split[0] = 0;
    for (size_t i = 0; i < n; i++) {
        before += all[i].cost;
        while (rank < ranks && before * ranks >= total * rank)
            split[rank++] = all[i].key;
    }
    split[ranks] = BODY_KEYS;
    free(all);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "unequal.h"

/* The lists of one size. */
static size_t list_of(const unequal_sizes_t *s)
{
    return 2u * s->ranks + 1;
}

static void fill(const unequal_sizes_t *s, const unequal_t *u, uint64_t bytes)
{
    for (unsigned r = 0; r < s->ranks; r++) {
        u->counts[r] = bytes / s->element * (r + 1) / s->ranks;
        u->begin[r + 1] = u->begin[r] + u->counts[r] * s->element;
    }
}

int unequal_make(unequal_sizes_t *s)
{
    const size_t lists = s->nsizes * list_of(s) * sizeof(size_t);
    s->each = calloc(1, s->nsizes * sizeof *s->each + lists);
    if (!s->each)
        return -1;
    size_t *next = (size_t *)(s->each + s->nsizes);
    for (unsigned i = 0; i < s->nsizes; i++, next += list_of(s)) {
        s->each[i] = (unequal_t){.counts = next, .begin = next + s->ranks};
        fill(s, &s->each[i], s->sizes[i]);
    }
    return 0;
}

void unequal_free(unequal_sizes_t *s)
{
    free(s->each);
    s->each = NULL;
}

const unequal_t *unequal_of(const unequal_sizes_t *s, size_t bytes)
{
    for (unsigned i = 0; s->each && i < s->nsizes; i++)
        if (s->sizes[i] == bytes)
            return &s->each[i];
    return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/platform/fnv.h"
#include "labels.h"

/* The slot of the label, or the free one where it belongs. Half of them are
 * free. */
static uint32_t *slot_of(const labels_t *l, const char *name)
{
    uint64_t at = fnv_add(FNV_EMPTY, name, strlen(name));
    for (;; at++) {
        uint32_t *slot = &l->slots[at & (l->nslots - 1)];
        if (!*slot || !strcmp(l->all[*slot - 1].name, name))
            return slot;
    }
}

static int grow(labels_t *l)
{
    const uint32_t capacity = l->capacity ? 2 * l->capacity : 64;
    struct label *all = realloc(l->all, capacity * sizeof *all);
    if (!all)
        return -1;
    l->all = all;
    uint32_t *slots = calloc(2 * (size_t)capacity, sizeof *slots);
    if (!slots)
        return -1;
    free(l->slots);
    l->slots = slots;
    l->capacity = capacity;
    l->nslots = 2 * capacity;
    for (uint32_t i = 0; i < l->count; i++)
        *slot_of(l, all[i].name) = i + 1;
    return 0;
}

int labels_add(labels_t *l, const char *name, uint32_t op)
{
    if (l->count == l->capacity && grow(l))
        return -1;
    uint32_t *slot = slot_of(l, name);
    if (*slot)
        return 1;
    strcpy(l->all[l->count].name, name);
    l->all[l->count++].op = op;
    *slot = l->count;
    return 0;
}

uint32_t labels_find(const labels_t *l, const char *name)
{
    const uint32_t *slot = l->nslots ? slot_of(l, name) : NULL;
    return slot && *slot ? l->all[*slot - 1].op : LABEL_NONE;
}

void labels_clear(labels_t *l)
{
    l->count = 0;
    if (l->nslots)
        memset(l->slots, 0, l->nslots * sizeof *l->slots);
}

void labels_free(labels_t *l)
{
    free(l->all);
    free(l->slots);
    *l = (labels_t){0};
}

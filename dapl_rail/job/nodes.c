/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/nodes.h"

static unsigned number(const unsigned *map, unsigned ppn, unsigned rank)
{
    return map ? map[rank] : rank / ppn;
}

/* The slot of a rank's number in a hash table, which always has a free slot. It
 * holds 1 + the first rank with that number, or 0. */
static unsigned *slot_of(unsigned *table, unsigned mask, const unsigned *map,
                         unsigned ppn, unsigned rank)
{
    unsigned wanted = number(map, ppn, rank);
    unsigned at = wanted * 0x9e3779b1u & mask;
    while (table[at] && number(map, ppn, table[at] - 1) != wanted)
        at = (at + 1) & mask;
    return &table[at];
}

int nodes_make(struct nodes *nodes, unsigned size, const unsigned *map,
               unsigned ppn)
{
    unsigned mask = 1;
    while (mask <= size)
        mask = 2 * mask + 1;
    unsigned *first = calloc((size_t)mask + 1, sizeof *first);
    *nodes = (struct nodes){.node = calloc(3 * (size_t)size, sizeof *first)};
    if (!nodes->node || !first) {
        free(first);
        return DRAIL_ENOMEM;
    }
    nodes->local = nodes->node + size;
    nodes->ranks = nodes->local + size;
    for (unsigned r = 0; r < size; r++) {
        unsigned *slot = slot_of(first, mask, map, ppn, r);
        unsigned node = *slot ? nodes->node[*slot - 1] : nodes->count++;
        if (!*slot)
            *slot = r + 1;
        nodes->node[r] = node;
        nodes->local[r] = nodes->ranks[node]++;
    }
    free(first);
    return 0;
}

void nodes_free(struct nodes *nodes)
{
    free(nodes->node);
    *nodes = (struct nodes){0};
}

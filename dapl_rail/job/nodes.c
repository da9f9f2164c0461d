/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/nodes.h"

static unsigned number(const unsigned *map, unsigned ppn, unsigned rank)
{
    return map ? map[rank] : rank / ppn;
}

int nodes_make(struct nodes *nodes, unsigned size, const unsigned *map,
               unsigned ppn)
{
    *nodes = (struct nodes){0};
    nodes->node = calloc(3 * (size_t)size, sizeof *nodes->node);
    if (!nodes->node)
        return DRAIL_ENOMEM;
    nodes->local = nodes->node + size;
    nodes->ranks = nodes->local + size;
    for (unsigned r = 0; r < size; r++) {
        unsigned first = 0; /* rank of the same node */
        while (number(map, ppn, first) != number(map, ppn, r))
            first++;
        unsigned node = first < r ? nodes->node[first] : nodes->count++;
        nodes->node[r] = node;
        nodes->local[r] = nodes->ranks[node]++;
    }
    return 0;
}

void nodes_free(struct nodes *nodes)
{
    free(nodes->node);
    *nodes = (struct nodes){0};
}

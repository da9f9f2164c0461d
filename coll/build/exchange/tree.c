/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/tree.h"
#include "coll/build/flat.h"

unsigned tree_levels(const struct tree *tree)
{
    if (tree->star)
        return (tree->n - 1 + tree->k - 1) / tree->k;
    return flat_steps(tree->n, tree->k);
}

struct tree_edge tree_up(const struct tree *tree, unsigned rank)
{
    const unsigned base = tree->k + 1;
    struct tree_edge edge = {.child = rank, .blocks = 1};
    if (tree->star) {
        edge.level = (rank - 1) / tree->k;
        edge.port = (rank - 1) % tree->k;
        return edge;
    }
    unsigned weight = 1;
    for (; rank / weight % base == 0; weight *= base)
        edge.level++;
    const unsigned digit = rank / weight % base;
    edge.parent = rank - digit * weight;
    edge.port = digit - 1;
    edge.blocks = weight < tree->n - rank ? weight : tree->n - rank;
    return edge;
}

unsigned tree_slots(const struct tree *tree, unsigned rank)
{
    if (tree->star)
        return rank == 0 ? tree->n - 1 : 0;
    return tree->k *
           (rank == 0 ? tree_levels(tree) : tree_up(tree, rank).level);
}

bool tree_child(const struct tree *tree, unsigned rank, unsigned slot,
                struct tree_edge *edge)
{
    unsigned distance = slot + 1;
    if (!tree->star)
        distance =
            (slot % tree->k + 1) * flat_power(tree->k + 1, slot / tree->k);
    if (distance >= tree->n - rank)
        return false;
    *edge = tree_up(tree, rank + distance);
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees over n ranks, numbered from the root (relative rank 0), for k ports.
 *  - star: all other ranks are children of the root.
 *  - else the (k+1)-nomial tree: the parent of a rank is that rank with its
 * lowest non-zero digit, to the base k + 1, set to 0 (Qian and Afsahi,
 * section 5.1.1). The ranks of a subtree are consecutive.
 */
#ifndef DCOLL_TREE_H
#define DCOLL_TREE_H

#include <stdbool.h>

struct tree {
    unsigned n, k;
    bool star;
};

/** The edge between a child and its parent. */
struct tree_edge {
    unsigned child, parent;
    unsigned blocks; /**< ranks of the child's subtree: child, child + 1, … */
    unsigned level;  /**< edges of one level are used in the same step; towards
                          the root, lower levels first */
    unsigned port;
};

/** The number of steps: ⌈log_{k+1} n⌉; star: ⌈(n-1)/k⌉. */
unsigned tree_levels(const struct tree *tree);
/** The edge from @p rank > 0 to its parent. */
struct tree_edge tree_up(const struct tree *tree, unsigned rank);
/** The number of slots for children of @p rank, low levels first. */
unsigned tree_slots(const struct tree *tree, unsigned rank);
/** The edge to the child in a slot. false: the slot is empty. */
bool tree_child(const struct tree *tree, unsigned rank, unsigned slot,
                struct tree_edge *edge);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees over n ranks that are counted from the root (relative rank 0), for
 * nodes with k ports.
 *  - star: all others are children of the root.
 *  - else the spanning binomial tree for k ports ((k+1)-nomial): the parent of
 *    a rank has its lowest digit that is not 0, to the base k + 1, set to 0
 *    (seed 000, section 5.1.1). A subtree has consecutive ranks.
 */
#ifndef DCOLL_TREE_H
#define DCOLL_TREE_H

#include <stdbool.h>

struct tree {
    unsigned n, k;
    bool star;
};

/** Between a child and its parent. */
struct tree_edge {
    unsigned child, parent;
    unsigned blocks; /**< ranks of the child's subtree: child, child + 1, … */
    unsigned level;  /**< edges of one level carry their message in one step,
                          lower ones earlier on the way to the root */
    unsigned port;
};

/** Communication steps: ⌈log_{k+1} n⌉, star: ⌈(n-1)/k⌉. */
unsigned tree_levels(const struct tree *tree);
/** From @p rank > 0 to its parent. */
struct tree_edge tree_up(const struct tree *tree, unsigned rank);
/** Places for children of @p rank, those of low levels first. */
unsigned tree_slots(const struct tree *tree, unsigned rank);
/** false: that place is empty. */
bool tree_child(const struct tree *tree, unsigned rank, unsigned slot,
                struct tree_edge *edge);

#endif

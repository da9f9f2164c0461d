/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree that keeps the order of ranks, whichever is its root: ranks are
 * divided into k+1 parts that follow each other, as those are again. The head
 * of the part where the root is, is the root, that of another its first rank;
 * the head of all gets what the heads of the parts have. ⌈log_{k+1} N⌉ steps.
 */
#ifndef DCOLL_ORDERED_TREE_H
#define DCOLL_ORDERED_TREE_H

#include "coll/build/reduce/combine.h"

struct ordered_tree {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned n, me, root;  /**< numbers: of ranks or nodes */
    const unsigned *ranks; /**< by number, the root's is args->root; NULL: each
                                its own */
    unsigned ports;
    size_t temp; /**< where its memory in TEMP begins */
};

/** What is at @p own, of mine, combined with that of the others, to RECV of the
 *  root. @p put: it may be put from there; else it is copied before. */
void ordered_tree_reduce(const struct ordered_tree *t, dcoll_place_t own,
                         bool put);
/** Of TEMP. */
size_t ordered_tree_bytes(const struct ordered_tree *t);

#endif

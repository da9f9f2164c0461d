/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction tree that keeps the order of ranks for any root. The ranks are
 * divided into k+1 consecutive parts, each part again, and so on. The head of
 * the part with the root is the root; the head of another part is its first
 * rank. The heads of the parts send to the head of the whole. ⌈log_{k+1} N⌉
 * steps.
 */
#ifndef DCOLL_ORDERED_TREE_H
#define DCOLL_ORDERED_TREE_H

#include "coll/build/reduce/combine.h"

struct ordered_tree {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned n, me,
        root; /**< members (ranks or nodes), my number, the root's */
    const unsigned *ranks; /**< by number; that of the root is args->root. NULL:
                                number = rank */
    unsigned ports;
    size_t temp; /**< offset of its memory in TEMP */
};

/** Combines the blocks of all members into RECV of the root. @p own: the place
 * of mine. @p put: it may be put from there; else it is copied first. */
void ordered_tree_reduce(const struct ordered_tree *t, dcoll_place_t own,
                         bool put);
/** The bytes that it needs in TEMP. */
size_t ordered_tree_bytes(const struct ordered_tree *t);

#endif

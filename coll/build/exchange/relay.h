/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks on their way along a tree. Ranks are relative to the root here; block
 * u belongs to relative rank u. Where a rank keeps the blocks of its subtree is
 * its layout: one after the other from its own block on, or each in its
 * absolute place. A message between two layouts takes a put, or two where it
 * wraps around the last absolute rank.
 */
#ifndef DCOLL_RELAY_H
#define DCOLL_RELAY_H

#include "coll/build/grant.h"
#include "coll/build/exchange/tree.h"

struct relay;

struct layout {
    dcoll_space_t space;
    bool absolute;
};

struct relay {
    struct tree tree;
    const dcoll_args_t *args;
    unsigned root, rank; /**< absolute; relative */
    dcoll_schedule_t *s;
    unsigned first_step;
    struct layout (*layout)(const struct relay *relay, unsigned rank);
    grant_t (*grant)(const struct relay *relay, dcoll_space_t target);
};

/** Of @p rank (absolute), with grant_along_tree(). */
struct relay relay_make(const struct tree *tree, const dcoll_args_t *args,
                        unsigned root, unsigned rank, dcoll_schedule_t *s,
                        struct layout (*layout)(const struct relay *,
                                                unsigned));
unsigned relay_absolute(const struct relay *relay, unsigned rank);
bool relay_is_leaf(const struct relay *relay, unsigned rank);
/** Where @p owner keeps block @p u. */
dcoll_place_t relay_place(const struct relay *relay, unsigned owner,
                          unsigned u);
/** Ranks of the subtree. */
unsigned relay_blocks(const struct relay *relay, unsigned rank);

/* Up: the blocks of subtrees to parents. Own block must be in its place. */
void relay_open_children(const struct relay *relay);
void relay_gather(const struct relay *relay);
void relay_close_children(const struct relay *relay);

/* Down: the blocks of subtrees, or the same bytes from the start of everybody's
 * layout, from parents to children. At the root they must be in place. */
void relay_open_parent(const struct relay *relay);
void relay_scatter(const struct relay *relay);
void relay_bcast(const struct relay *relay, size_t bytes);
void relay_close_parent(const struct relay *relay);

#endif

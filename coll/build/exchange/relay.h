/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks that travel along a tree. Ranks here are relative to the root; block u
 * belongs to relative rank u. The layout of a rank tells where it keeps the
 * blocks of its subtree: one after the other from its own block on, or each at
 * its absolute place. A message between different layouts takes one put, or two
 * if it wraps around the last absolute rank.
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

/** For absolute rank @p rank, with grant_along_tree(). */
struct relay relay_make(const struct tree *tree, const dcoll_args_t *args,
                        unsigned root, unsigned rank, dcoll_schedule_t *s,
                        struct layout (*layout)(const struct relay *,
                                                unsigned));
unsigned relay_absolute(const struct relay *relay, unsigned rank);
bool relay_is_leaf(const struct relay *relay, unsigned rank);
/** Where relative rank @p owner keeps block @p u. */
dcoll_place_t relay_place(const struct relay *relay, unsigned owner,
                          unsigned u);
/** The number of blocks in the subtree of a relative rank. */
unsigned relay_blocks(const struct relay *relay, unsigned rank);
/** The bytes of @p count blocks from block @p u on. */
size_t relay_bytes(const struct relay *relay, unsigned u, unsigned count);

/* Up: sends the blocks of subtrees to parents. My own block must be in its
 * place. */
void relay_open_children(const struct relay *relay);
void relay_gather(const struct relay *relay);
void relay_close_children(const struct relay *relay);

/* Down: sends from parents to children the blocks of subtrees, or the same
 * bytes from the begin of the layout. At the root they must be in place. */
void relay_open_parent(const struct relay *relay);
void relay_scatter(const struct relay *relay);
void relay_bcast(const struct relay *relay, size_t bytes);
void relay_close_parent(const struct relay *relay);

#endif

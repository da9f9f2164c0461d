/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of long blocks within a node, along a chain of its ranks: rank
 * after rank adds its operand to one vector in NODE, piece by piece. While a
 * rank works at one piece, the rank before it works at a later one. So each
 * operand is read once and copied nowhere, and no rank waits for all others,
 * which costs ranks that share cores a switch of each.
 */
#ifndef DCOLL_NODE_CHAIN_H
#define DCOLL_NODE_CHAIN_H

#include "coll/build/smp/node.h"

/* Bytes of a piece, or more if there would be many pieces. A chain pays if
 * there is about a piece for each rank. */
#define NODE_CHAIN_PIECE (16u << 10)

struct node_chain {
    const struct node *node;
    struct slices pieces; /* of the vector, which is in NODE from 0 on */
    unsigned first, before, last; /* ranks; before: whose sum I take */
};

/* A chain over a vector of @p bytes, from rank @p first of the node to the one
 * before it, with wrap-around. Sets the memory and flags of the schedule. */
struct node_chain node_chain_of(const struct node *node, size_t bytes,
                                unsigned first);
/* Adds the operand at @p mine to the vector. The last rank leaves the sum at
 * @p result, which is the vector, or its own memory. */
void node_chain_add(const struct node_chain *chain, dcoll_place_t mine,
                    dcoll_place_t result);
/* Copies bytes @p begin to @p end of the sum from the vector, when they are
 * there. */
void node_chain_fetch(const struct node_chain *chain, size_t begin, size_t end,
                      dcoll_place_t to);

/* All ranks: adds the operand at @p mine, and copies bytes @p begin to @p end
 * of the sum. The first rank waits until the vector may be begun again. With
 * depth 2 it may overwrite what others read in the start before last: it has
 * fetched its part of the last one, to which all added. */
void node_chain_share(const struct node_chain *chain, dcoll_place_t mine,
                      size_t begin, size_t end, dcoll_place_t to);

/* The schedule of a scan or exscan. */
void node_chain_scan(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s);

#endif

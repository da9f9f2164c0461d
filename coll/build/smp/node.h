/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks of one node do through the memory they share. A block of up to
 * DCOLL_LINE_BYTES travels in the cache line of its owner's flag; a larger one
 * through NODE, where its owner has put it before it sets the flag.
 */
#ifndef DCOLL_NODE_H
#define DCOLL_NODE_H

#include "coll/build/reduce/combine.h"
#include "coll/schedule.h"

/* Flags of each rank. */
enum {
    NODE_POSTED, /* my block is there */
    NODE_DONE,   /* I have read what I had to */
    NODE_ARRIVED /* a master's: what came from other nodes is there; one flag
                    per step from here on */
};

/* The ranks of a node, as one of them sees them. */
struct node {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned rank, index;  /* mine; of my node */
    unsigned first, count; /* of my node's ranks */
    bool sole; /* what is posted has one reader: he takes it (node_fetch,
                  node_operands) */
};

struct node node_make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                      unsigned rank, dcoll_schedule_t *s);
/* The @p distance-th rank of my node after me, with wrap-around: when each
 * reads its peers in this order, not all read the same one at a time. */
unsigned node_peer(const struct node *node, unsigned distance);
/* For algorithms that work within one node only. */
const char *node_refuses_several(const dcoll_shape_t *shape,
                                 const dcoll_args_t *args);

bool node_fits_line(size_t bytes);
/* NODE memory of a block; blocks do not share cache lines. */
size_t node_stride(size_t bytes);

/* Own block for the others of my node, if there are any: sets NODE_POSTED. If
 * it is too large for the line and src is another place than NODE at offset, it
 * goes there. */
void node_post(const struct node *node, dcoll_place_t src, size_t offset,
               size_t bytes);
/* What a peer has posted at offset, to dst; to where it is already: waits. */
void node_fetch(const struct node *node, unsigned peer, size_t offset,
                dcoll_place_t dst, size_t bytes);

/* Blocks for all ranks, posted at once: all of src but my own, at offset. */
void node_deal(const struct node *node, dcoll_space_t src, size_t offset);
/* Mine of those that a peer has dealt. Uses TEMP from `temp` on if they came in
 * a line, node_deal_temp() bytes. */
void node_pick(const struct node *node, unsigned peer, size_t offset,
               size_t temp, dcoll_place_t dst);
size_t node_deal_temp(const struct node *node);
/* NODE memory of what one rank deals. */
size_t node_deal_bytes(const struct node *node);

/* A reduction: what the others of my node have posted in a row of NODE, from 0
 * on, waited for; mine is where combine_user() says. What came in lines is in
 * TEMP from `temp` on, node_row_temp() bytes. Spare is my own place of the row,
 * which is free unless I have posted there. */
struct operands node_operands(const struct node *node, size_t temp);
size_t node_row_temp(const struct node *node);
/* The same from byte `at` of the blocks on, without waiting for them. */
struct operands node_row(const struct node *node, size_t temp, size_t at);
/* My place in the row, and NODE memory of all of it. */
size_t node_row_own(const struct node *node);
size_t node_row_bytes(const struct node *node);

/* Flags alone: until all others of my node, or one, have set theirs. */
void node_signal(const struct node *node, unsigned flag);
void node_await(const struct node *node, unsigned peer, unsigned flag,
                unsigned lag);
void node_await_all(const struct node *node, unsigned flag, unsigned lag);

/* Depth 1: until my node has read what came in the start before; and I have, of
 * this start. */
void node_enter(const struct node *node);
void node_leave(const struct node *node);

/* All-gather: own block's place, and the copy from there to RECV. */
dcoll_place_t node_own(const struct node *node);
void node_keep_own(const struct node *node);
/* All-gather within the node: after node_post() of all blocks at
 * base + rank * stride, those of the others, to RECV. */
void node_fetch_others(const struct node *node, size_t base, size_t stride);
/* All-gather: what NODE has of ranks begin … end - 1, each in its place, to
 * RECV; but for my own block, which node_keep_own() takes there (seed 000,
 * fig. 7). */
void node_copy_out(const struct node *node, unsigned begin, unsigned end);
/* The same with my own block, unless it is there already. */
void node_copy_out_all(const struct node *node, unsigned begin, unsigned end);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of the ranks of a node through their shared memory. A block of up
 * to DCOLL_LINE_BYTES travels in the cache line of its owner's flag. A larger
 * one travels through NODE: its owner writes it there before it sets the flag.
 */
#ifndef DCOLL_NODE_H
#define DCOLL_NODE_H

#include "coll/build/reduce/combine.h"
#include "coll/schedule.h"

/* Flags of each rank. */
enum {
    NODE_POSTED, /* my block is in place */
    NODE_DONE,   /* I have read the other blocks */
    NODE_ARRIVED /* from here on one flag per step or piece; of a master: the
                    blocks of other nodes are in place */
};

/* The node of a rank. */
struct node {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned rank, index;  /* my rank; the index of my node */
    unsigned first, count; /* my node's first rank, and its number of ranks */
};

struct node node_make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                      unsigned rank, dcoll_schedule_t *s);
/* The rank @p distance after me on my node, with wrap-around. If all ranks read
 * their peers in this order, they do not all read the same one at a time. */
unsigned node_peer(const struct node *node, unsigned distance);
/* refuses() of algorithms that work within one node only. */
const char *node_refuses_several(const dcoll_shape_t *shape,
                                 const dcoll_args_t *args);

bool node_fits_line(size_t bytes);
/* The NODE memory of a block, in whole cache lines. */
size_t node_stride(size_t bytes);
/* The blocks of all ranks one after the other, each in whole cache lines: where
 * that of @rank begins. */
size_t node_block_at(const dcoll_args_t *args, unsigned rank);
/* The same; 0 if all blocks fit a flag's line. Of the number of ranks: the end.
 */
size_t node_block_place(const struct node *node, unsigned rank);

/* Posts my block for the other ranks of my node, if there are any: copies it to
 * NODE at offset, unless it fits a line or is there already, and sets
 * NODE_POSTED. */
void node_post(const struct node *node, dcoll_place_t src, size_t offset,
               size_t bytes);
/* Waits for the block that a peer has posted at offset, and copies it to dst,
 * unless that is the same place. */
void node_fetch(const struct node *node, unsigned peer, size_t offset,
                dcoll_place_t dst, size_t bytes);

/* Copies one slice of a block. */
void node_copy_slice(const struct node *node, const struct slices *slices,
                     unsigned slice, dcoll_place_t src, dcoll_place_t dst);

/* A long block in pieces, each with a flag of its own from NODE_ARRIVED on: its
 * reader takes one while its owner writes the next. A short block is one piece,
 * whose flag is NODE_POSTED. */
struct slices node_pieces(const dcoll_args_t *args);
/* The same with pieces of @bytes or, if there would be too many, more. */
struct slices node_pieces_of(const dcoll_args_t *args, size_t bytes);
/* The number of a rank's flags. */
unsigned node_pieces_flags(const dcoll_args_t *args);
/* node_post() and node_fetch() of a block of args->bytes, in pieces. */
void node_post_pieces(const struct node *node, dcoll_place_t src,
                      size_t offset);
void node_fetch_pieces(const struct node *node, unsigned peer, size_t offset,
                       dcoll_place_t dst);

/* Posts one block for each rank of the node: those in src, except my own. */
void node_deal(const struct node *node, dcoll_space_t src, size_t offset);
/* Takes my block of those that a peer has dealt. If they came in a line, it
 * uses node_deal_temp() bytes of TEMP at `temp`. */
void node_pick(const struct node *node, unsigned peer, size_t offset,
               size_t temp, dcoll_place_t dst);
size_t node_deal_temp(const struct node *node);
/* The NODE memory for the blocks that one rank deals. */
size_t node_deal_bytes(const struct node *node);

/* Reductions: waits for the blocks that the other ranks of my node have posted
 * in a row of NODE from 0 on; mine is at combine_user(). Blocks that came in
 * lines are in TEMP at `temp`, node_row_temp() bytes. `spare` is my own place
 * in the row, which is free unless I have posted there. */
struct operands node_operands(const struct node *node, size_t temp);
size_t node_row_temp(const struct node *node);
/* The same row from byte `at` of the blocks on, without waiting. */
struct operands node_row(const struct node *node, size_t temp, size_t at);
/* The offset of my place in the row, and the NODE memory of the row. */
size_t node_row_own(const struct node *node);
size_t node_row_bytes(const struct node *node);

/* Flags without blocks: set one; wait for that of a peer, or of all others. */
void node_signal(const struct node *node, unsigned flag);
void node_await(const struct node *node, unsigned peer, unsigned flag,
                unsigned lag);
void node_await_all(const struct node *node, unsigned flag, unsigned lag);

/* Depth 1 only: node_enter() waits until all ranks of my node have finished the
 * start before; node_leave() tells them that I have finished this one. */
void node_enter(const struct node *node);
void node_leave(const struct node *node);

/* All-gather: the place of my own block, and its copy to RECV. */
dcoll_place_t node_own(const struct node *node);
void node_keep_own(const struct node *node);
/* All-gather within the node: copies the blocks of the other ranks to RECV;
 * each has been posted at base + rank * stride. */
void node_fetch_others(const struct node *node, size_t base, size_t stride);
/* All-gather: copies the blocks of ranks begin … end - 1 from their places in
 * NODE to RECV, except my own, which node_keep_own() copies (Qian and Afsahi,
 * figure 7). */
void node_copy_out(const struct node *node, unsigned begin, unsigned end);
/* The same with my own block, unless it is in RECV already. */
void node_copy_out_all(const struct node *node, unsigned begin, unsigned end);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction within a node by slices: each rank posts its block, and each
 * owner (the first ranks of the node) combines one slice of all blocks. So
 * cores share the work, and each byte is combined once. Slices of long blocks
 * are divided into pieces, which go one after the other through the same two
 * places.
 *
 * A rank that has seen all others post a piece knows that they are done with
 * the piece before it; so the place of that piece is free, and no credit is
 * needed.
 */
#ifndef DCOLL_NODE_SLICES_H
#define DCOLL_NODE_SLICES_H

#include "coll/build/smp/node.h"

/* Where owners write combined slices. */
enum slices_to {
    SLICES_STAY,    /* to their own result only */
    SLICES_TO_ROOT, /* through NODE to the result of args->root */
    SLICES_TO_ALL,  /* through NODE to the results of all ranks */
};

struct node_slices {
    const struct node *node; /* of several ranks */
    unsigned owners;         /* their number; no slice is empty */
    unsigned pieces;         /* of each slice */
    size_t room;             /* bytes of the longest piece */
    size_t at, temp;         /* offsets of its memory in NODE and in TEMP */
    dcoll_place_t result;    /* a block; may be the place of mine */
    enum slices_to to;
};

/* Sets owners (at most `most`), pieces and room for the block of node->args. */
struct node_slices node_slices_of(const struct node *node, unsigned most);
void node_slices_reduce(const struct node_slices *s);
/* The bytes it needs in NODE (in TEMP: `room`), and the number of flags, from
 * NODE_ARRIVED on. */
size_t node_slices_bytes(const struct node_slices *s);
unsigned node_slices_flags(const struct node_slices *s);
/* The offset in a block, and the bytes, of the slice of an owner. */
size_t node_slice_begin(const struct node_slices *s, unsigned owner);
size_t node_slice_bytes(const struct node_slices *s, unsigned owner);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction within a node, by slices: each rank posts its block, and each of
 * the owners, the first ranks of the node, combines one slice of all of them.
 * So cores share the work, and each byte is combined once. Slices of long
 * blocks go in pieces, one after the other through the same two places.
 *
 * Who has seen that all have posted a piece knows that they have done with the
 * one before it, and that its place may be used again: nobody needs leave.
 */
#ifndef DCOLL_NODE_SLICES_H
#define DCOLL_NODE_SLICES_H

#include "coll/build/smp/node.h"

/* Where combined slices go. */
enum slices_to {
    SLICES_STAY,    /* each owner's, to his result alone */
    SLICES_TO_ROOT, /* through NODE to the result of args->root */
    SLICES_TO_ALL,  /* through NODE to the results of all, but for mine */
};

struct node_slices {
    const struct node *node; /* of several ranks */
    unsigned owners;         /* 1 … all of them, each of something */
    unsigned pieces;         /* of each slice */
    size_t room;             /* for any of them */
    size_t at, temp;         /* in NODE, and in TEMP, from there on */
    dcoll_place_t result;    /* a block, which may be where mine is: to my
                                slice of it … */
    enum slices_to to;
};

/* What follows from the block: its owners, so many at most, pieces, and room.
 */
struct node_slices node_slices_of(const struct node *node, unsigned most);
void node_slices_reduce(const struct node_slices *s);
/* Of NODE; flags, which begin with NODE_ARRIVED. Of TEMP it takes `room`. */
size_t node_slices_bytes(const struct node_slices *s);
unsigned node_slices_flags(const struct node_slices *s);
/* The slice of the owner'th rank of the node, in a block. */
size_t node_slice_begin(const struct node_slices *s, unsigned owner);
size_t node_slice_bytes(const struct node_slices *s, unsigned owner);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction within a node, by slices: each rank posts its block and combines
 * one slice of all of them, which it leaves in NODE. So all cores take part,
 * and each byte is combined once. A long block goes in chunks, one after the
 * other through the same two places, which stay in the caches.
 *
 * Who has seen that all have posted a chunk knows that they have done with the
 * one before it, and that its place may be used again: nobody needs leave.
 */
#ifndef DCOLL_NODE_SLICES_H
#define DCOLL_NODE_SLICES_H

#include "node.h"

struct node_slices {
    size_t at, temp;   /* in NODE, and in TEMP, from there on */
    bool shared;       /* others fetch what I combine */
    bool fetches;      /* I fetch what others combine … */
    dcoll_place_t dst; /* … there: it may be where my own block is */
};

/* Of several ranks. */
void node_slices_reduce(const struct node *node, const struct node_slices *s);
size_t node_slices_bytes(const struct node *node);
size_t node_slices_temp(const struct node *node);
/* They begin with NODE_ARRIVED, so many in all. */
unsigned node_slices_flags(const struct node *node);

/* An all-reduce of one node. */
void node_slices_allreduce(const struct node *node);

#endif

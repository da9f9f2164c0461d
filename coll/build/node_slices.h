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

/* NODE from `at` on. Flags begin with NODE_ARRIVED, node_slices_flags() in all.
 * The result goes to dst of those who fetch it, which may be where their own
 * block is. There are several ranks. */
void node_slices_reduce(const struct node *node, size_t at, bool fetch,
                        dcoll_place_t dst);
size_t node_slices_bytes(const struct node *node);
unsigned node_slices_flags(const struct node *node);

/* An all-reduce of one node. */
void node_slices_allreduce(const struct node *node);

#endif

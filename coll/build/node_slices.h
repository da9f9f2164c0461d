/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction within a node, by slices: each rank posts its block and combines
 * one slice of all of them, which it leaves in NODE. So all cores take part,
 * and each byte is combined once.
 */
#ifndef DCOLL_NODE_SLICES_H
#define DCOLL_NODE_SLICES_H

#include "node.h"

/* Uses flags up to NODE_ARRIVED, which says that the slice is there, and NODE
 * from `at` on, node_slices_bytes(). */
void node_slices_combine(const struct node *node, size_t at);
size_t node_slices_bytes(const struct node *node);
/* Where a rank has them all, all have read what it has posted; and who has seen
 * that all have posted, that they have read the slices of the start before. So
 * nobody needs leave to go on. */

/* All slices to dst, as they come. */
void node_slices_fetch(const struct node *node, size_t at, dcoll_place_t dst);

/* An all-reduce of one node. */
void node_slices_allreduce(const struct node *node);

#endif

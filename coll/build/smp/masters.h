/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Masters: the first rank of each node exchanges blocks with other nodes. Parts
 * of SMP-aware and multi-connection algorithms.
 *
 * Blocks lie in NODE one after the other, in the order of ranks from a first
 * rank on, with wrap-around.
 */
#ifndef DCOLL_MASTERS_H
#define DCOLL_MASTERS_H

#include "coll/build/smp/node.h"
#include "coll/build/exchange/tree.h"

/* The master of a node. */
unsigned masters_of(const struct node *node, unsigned index);
/* The master of the node @p distance after, or before, mine. */
unsigned masters_after(const struct node *node, unsigned distance);
unsigned masters_before(const struct node *node, unsigned distance);
/* The number of ranks on @p count nodes from @p index on, with wrap-around. */
unsigned masters_ranks(const struct node *node, unsigned index, unsigned count);

/* Copies my own block to NODE at offset. */
void masters_keep_own(const struct node *node, size_t offset);
/* Collects the blocks that my node's other ranks have posted, in NODE behind
 * it. */
void masters_collect(const struct node *node, size_t offset);

/* Multi-connection: copies all blocks from their places in NODE to RECV. Zero
 * copy: only those of other nodes; my node's were copied while these were under
 * way. */
void masters_copy_out(const struct node *node);

/* Depth 1 only, after node_enter(): `source` may put again, through that port;
 * and the other side waits for it. With depth 2, a rank that has finished an
 * all-gather knows that all ranks have begun it, so TEMP and NODE of the next
 * start are free. */
void masters_grant(const struct node *node, unsigned source, unsigned port);
void masters_take(const struct node *node, unsigned target);

/* A tree over the nodes: my children may put; waits until they have. */
void masters_grant_children(const struct node *node, const struct tree *tree);
void masters_await_children(const struct node *node, const struct tree *tree);

#endif

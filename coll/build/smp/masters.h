/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the masters of nodes: what SMP-aware and multi-connection algorithms
 * have in common.
 *
 * Blocks lie in NODE one after the other, in the order of ranks from a first
 * one on, with wrap-around.
 */
#ifndef DCOLL_MASTERS_H
#define DCOLL_MASTERS_H

#include "coll/build/smp/node.h"
#include "coll/build/exchange/tree.h"

/* The node's first rank. */
unsigned masters_of(const struct node *node, unsigned index);
/* The @p distance-th node after, or before, mine. */
unsigned masters_after(const struct node *node, unsigned distance);
unsigned masters_before(const struct node *node, unsigned distance);
/* Ranks of @p count nodes from @p index on, with wrap-around. */
unsigned masters_ranks(const struct node *node, unsigned index, unsigned count);

/* My own block to NODE at offset. */
void masters_keep_own(const struct node *node, size_t offset);
/* The blocks that my node's other ranks have posted, to NODE behind that. */
void masters_collect(const struct node *node, size_t offset);

/* Multi-connection: all blocks, each in its place in NODE, to RECV; zero copy:
 * those of other nodes, as mine went there while they were on their way. */
void masters_copy_out(const struct node *node);

/*
 * Depth 1, as node_enter(). Else who has finished an all-gather knows that all
 * have begun it, and TEMP and NODE of the next start are free.
 */
/* After node_enter(): source may put again, through that port; and the other
 * side of that. */
void masters_grant(const struct node *node, unsigned source, unsigned port);
void masters_take(const struct node *node, unsigned target);

/* A tree over the nodes: my children may put, and until they have. */
void masters_grant_children(const struct node *node, const struct tree *tree);
void masters_await_children(const struct node *node, const struct tree *tree);

#endif

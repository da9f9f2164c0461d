/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that get from the buffers of the node's other ranks: blocks are
 * copied once, and ranks notify each other by flags only.
 */
#ifndef DCOLL_PULL_H
#define DCOLL_PULL_H

#include "coll/build/smp/node.h"

/* Others may read my buffer now. */
void pull_begin(const struct node *node);
/* Gets the block at src of the peer's buffer to its place in RECV. */
void pull_from(const struct node *node, unsigned peer, size_t src);
/* Waits until all ranks have read. */
void pull_end(const struct node *node);

#endif

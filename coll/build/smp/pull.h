/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frame of collectives that get from the buffers of the node's other ranks:
 * nothing is copied twice, and flags are all that ranks tell each other.
 */
#ifndef DCOLL_PULL_H
#define DCOLL_PULL_H

#include "coll/build/smp/node.h"

/* My buffer may be read. */
void pull_begin(const struct node *node);
/* Block at src of the peer's buffer to its place in RECV. */
void pull_from(const struct node *node, unsigned peer, size_t src);
/* All have read what they want. */
void pull_end(const struct node *node);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-to-all. A part is one message: the blocks of all ranks of a
 * node for all ranks of another node, sender by sender. Each node's NODE begins
 * with the parts that its ranks put together: for the node itself, then for the
 * nodes after it, with wrap-around. The algorithm decides where received parts
 * are.
 *
 * The messages of a node are numbered, and its ranks send and receive them in
 * turn; so no single master handles all.
 */
#ifndef DCOLL_PARTS_H
#define DCOLL_PARTS_H

#include "coll/build/smp/node.h"

/* A message from each node to the node `distance` after it. */
struct parts_message {
    unsigned number, distance, step, port;
};

/* The bytes of the part of node `from` for node `to`. */
size_t parts_bytes(const struct node *node, unsigned from, unsigned to);
/* The offset in NODE of the part for the node @p distance after mine; if
 * distance is the number of nodes: the end of all parts. */
size_t parts_place(const struct node *node, unsigned distance);
/* The same on node @p index. */
size_t parts_place_on(const struct node *node, unsigned index,
                      unsigned distance);

/* The number of flags for so many messages. */
unsigned parts_flags(const struct node *node, unsigned messages);

/* Adds my blocks to the parts of my node; then waits until all ranks have. */
void parts_post(const struct node *node);
void parts_gather(const struct node *node);
/* Copies my blocks to RECV: those of my own node; those in the part of node
 * @p from at @p offset. */
void parts_keep(const struct node *node);
void parts_scatter(const struct node *node, unsigned from, size_t offset);

/* Do I send and receive this message? */
bool parts_mine(const struct node *node, const struct parts_message *message);
/* Depth 1, after node_enter(): grants the message, if it is mine. */
void parts_grant(const struct node *node, const struct parts_message *message);
/* Sends it, if it is mine: from @p src in NODE to @p dst in NODE there. */
void parts_send(const struct node *node, const struct parts_message *message,
                size_t src, size_t dst, size_t bytes);
/* Waits until it has arrived at the rank of my node that receives it. */
void parts_receive(const struct node *node,
                   const struct parts_message *message);

#endif

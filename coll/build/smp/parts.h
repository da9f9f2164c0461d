/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-to-all: what goes from one node to another in one message. A
 * part is the blocks of all ranks of a node for all ranks of another one, those
 * of a sender one after the other. Each node's NODE begins with the parts that
 * its ranks have put together: for itself, for the nodes after it, with
 * wrap-around. Where those of other nodes come is the algorithm's.
 *
 * The messages of a node are numbered, and its ranks take them in turn: not one
 * master sends and receives everything.
 */
#ifndef DCOLL_PARTS_H
#define DCOLL_PARTS_H

#include "coll/build/smp/node.h"

/* From each node to the one that is `distance` after it. */
struct parts_message {
    unsigned number, distance, step, port;
};

/* Bytes of the part of one node, by its index, for another. */
size_t parts_bytes(const struct node *node, unsigned from, unsigned to);
/* Place in NODE of the part for the node that is @p distance after mine; of
 * all nodes: where all of these parts end. */
size_t parts_place(const struct node *node, unsigned distance);
/* The same in NODE of the node @p index. */
size_t parts_place_on(const struct node *node, unsigned index,
                      unsigned distance);

/* Flags that a node needs for so many messages. */
unsigned parts_flags(const struct node *node, unsigned messages);

/* Puts mine together with the others of my node; and until all have. */
void parts_post(const struct node *node);
void parts_gather(const struct node *node);
/* My blocks to RECV: of my own node, and of the part that has come from the
 * node @p from to @p offset. */
void parts_keep(const struct node *node);
void parts_scatter(const struct node *node, unsigned from, size_t offset);

/* Do I send and take it? */
bool parts_mine(const struct node *node, const struct parts_message *message);
/* Depth 1, after node_enter(): it may come. If it is mine. */
void parts_grant(const struct node *node, const struct parts_message *message);
/* If it is mine: what is at @p src in NODE, to @p dst in NODE there. */
void parts_send(const struct node *node, const struct parts_message *message,
                size_t src, size_t dst, size_t bytes);
/* Until it has come, to whoever of my node takes it. */
void parts_receive(const struct node *node,
                   const struct parts_message *message);

#endif

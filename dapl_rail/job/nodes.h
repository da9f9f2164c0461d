/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks are on which node. Pure. */
#ifndef DRAIL_JOB_NODES_H
#define DRAIL_JOB_NODES_H

struct nodes {
    unsigned count;  /* nodes are numbered in the order of their first ranks */
    unsigned *node;  /* of each rank */
    unsigned *local; /* of each rank: its index among the ranks of its node */
    unsigned *ranks; /* of each node: how many ranks it has */
};

/* map: the caller's number for the node of each rank; NULL: blocks of ppn
 * ranks. 0 or DRAIL_ENOMEM; nodes_free() in either case. */
int nodes_make(struct nodes *nodes, unsigned size, const unsigned *map,
               unsigned ppn);
void nodes_free(struct nodes *nodes);

#endif

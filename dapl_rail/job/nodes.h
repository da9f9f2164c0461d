/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks are on which node. */
#ifndef DRAIL_JOB_NODES_H
#define DRAIL_JOB_NODES_H

struct nodes {
    unsigned count;  /* nodes are numbered in the order of their first ranks */
    unsigned *node;  /* of each rank */
    unsigned *local; /* its place among the ranks of its node */
    unsigned *ranks; /* on each node */
};

/* From the caller's numbers, or NULL: blocks of ppn ranks. 0 or DRAIL_ENOMEM;
 * nodes_free in either case. */
int nodes_make(struct nodes *nodes, unsigned size, const unsigned *map,
               unsigned ppn);
void nodes_free(struct nodes *nodes);

#endif

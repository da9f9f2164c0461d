/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all through tables in shared memory: what a rank does on its
 * node. Each says there what it has for whom, with the elements; those of its
 * node look at the tables of all, and take what is for them. Long parts are
 * read where they are.
 *
 * Who has looked at what all offer in start s knows that all have done start
 * s - 1: with depth 2, the memory of start s - 1 is free.
 */
#ifndef DCOLL_OFFERS_H
#define DCOLL_OFFERS_H

#include "coll/build/smp/node.h"

struct offers {
    struct node node;
    size_t room; /* of a table, the same on all ranks */
    bool told;   /* others of the node wait for my offers */
};

/* Sets flags, and the tables' part of node_bytes. */
struct offers offers_make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, dcoll_schedule_t *s);
/* The tables of the node, for PACK and EXPECT. */
dcoll_deal_t offers_tables(const struct offers *o);
/* Offers what there is; waits until all others of the node have. */
void offers_post(const struct offers *o);
void offers_await(const struct offers *o);
/* After the EXPECTs of other nodes' bundles. */
void offers_expect(const struct offers *o);
/* From those of the node. */
void offers_pick(const struct offers *o);
/* At the end: nobody reads my SEND any more. */
void offers_close(const struct offers *o);

/* Why there can be no such tables, or NULL. */
const char *offers_refuse(const dcoll_shape_t *shape, const dcoll_args_t *args);

/* So many bytes, in whole cache lines; 0: more than there can be. */
size_t offers_room(double bytes);

#endif

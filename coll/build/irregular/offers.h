/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all through tables in NODE: each rank offers its elements in
 * a table; the ranks of its node look at all tables and pick their elements.
 * Long parts stay in SEND and are read there.
 *
 * A rank that has seen all offers of start s knows that all ranks have finished
 * start s - 1: with depth 2, the memory of start s - 1 is free.
 */
#ifndef DCOLL_OFFERS_H
#define DCOLL_OFFERS_H

#include "coll/build/smp/node.h"

struct offers {
    struct node node;
    size_t room; /* of a table, the same on all ranks */
    bool told;   /* other ranks of the node wait for my offers */
};

/* Sets the schedule's flags, and adds the tables to node_bytes. */
struct offers offers_make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, dcoll_schedule_t *s);
/* The row of the node's tables, for PACK and EXPECT. */
dcoll_deal_t offers_tables(const struct offers *o);
/* Offers my elements; then waits until all other ranks of the node have. */
void offers_post(const struct offers *o);
void offers_await(const struct offers *o);
/* EXPECT of my node's tables; after those of other nodes' bundles. */
void offers_expect(const struct offers *o);
/* Picks the elements that ranks of my node offer. */
void offers_pick(const struct offers *o);
/* At the end: waits until no rank reads my SEND any more. */
void offers_close(const struct offers *o);

/* Why there can be no such tables; NULL: there can. */
const char *offers_refuse(const dcoll_shape_t *shape, const dcoll_args_t *args);

/* Rounds up to whole cache lines; 0: too large. */
size_t offers_room(double bytes);

#endif

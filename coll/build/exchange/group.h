/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that exchange something in steps: all of the team, or one of each of
 * its nodes. Each is known by its number in the group.
 */
#ifndef DCOLL_GROUP_H
#define DCOLL_GROUP_H

#include "coll/build/exchange/clusters.h"
#include "coll/build/grant.h"

struct group {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    const unsigned *ranks; /**< by number; NULL: all ranks, each its own */
    unsigned after;        /**< so many behind those */
    unsigned me;           /**< my number */
    unsigned ports;
    grant_t grant;
    struct clusters c; /**< c.n of them */
};

/** All ranks of the team. @p radix: of their clusters, up to ports + 1. */
struct group group_of_all(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, unsigned radix, grant_t grant,
                          dcoll_schedule_t *s);
/** The owner'th ranks of all nodes, from 0; @p node is mine. */
struct group group_of_owners(const dcoll_shape_t *shape,
                             const dcoll_args_t *args, unsigned node,
                             unsigned owner, unsigned radix, grant_t grant,
                             dcoll_schedule_t *s);

unsigned group_rank(const struct group *g, unsigned number);
/** A member of my cluster, or its core: where it comes there, from 0. */
unsigned group_position(const struct group *g);
/** Members of my cluster, with the core. */
unsigned group_size(const struct group *g);

/** For all that put to me: partners, and those of my cluster. */
void group_grant(const struct group *g, grant_change_t *change);
typedef void group_put_t(const struct group *g, unsigned number, unsigned port,
                         dcoll_place_t src, dcoll_place_t dst, size_t bytes);
/** The first put of a start to that one takes the grant. */
group_put_t group_put_first, group_put;
/** Until that one has put. */
void group_wait(const struct group *g, unsigned number);
/** Until the k partners of the step of @p weight have. */
void group_wait_partners(const struct group *g, unsigned weight);

#endif

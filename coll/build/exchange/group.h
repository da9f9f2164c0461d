/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members of an exchange: all ranks of the team, or one rank of each node.
 * Members have numbers.
 */
#ifndef DCOLL_GROUP_H
#define DCOLL_GROUP_H

#include "coll/build/exchange/clusters.h"
#include "coll/build/grant.h"

struct group {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    const unsigned *ranks; /**< by number; NULL: number = rank */
    unsigned after;        /**< added to ranks[number] */
    unsigned me;           /**< my number */
    unsigned ports;
    grant_t grant;
    struct clusters c; /**< of c.n members */
};

/** All ranks of the team. @p radix: of the clusters, up to ports + 1. */
struct group group_of_all(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, unsigned radix, grant_t grant,
                          dcoll_schedule_t *s);
/** Rank number @p owner of each node, from 0; @p node is mine. */
struct group group_of_owners(const dcoll_shape_t *shape,
                             const dcoll_args_t *args, unsigned node,
                             unsigned owner, unsigned radix, grant_t grant,
                             dcoll_schedule_t *s);

unsigned group_rank(const struct group *g, unsigned number);
/** My position in my cluster; the core has 0. */
unsigned group_position(const struct group *g);
/** The size of my cluster, with the core. */
unsigned group_size(const struct group *g);

/** Grants puts to all members that put to me: partners and my cluster. */
void group_grant(const struct group *g, grant_change_t *change);
typedef void group_put_t(const struct group *g, unsigned number, unsigned port,
                         dcoll_place_t src, dcoll_place_t dst, size_t bytes);
/** Put to a member; the first one of a start waits for the grant. */
group_put_t group_put_first, group_put;
/** Waits for a put of that member. */
void group_wait(const struct group *g, unsigned number);
/** Waits for the puts of the k partners in the step of @p weight. */
void group_wait_partners(const struct group *g, unsigned weight);

#endif

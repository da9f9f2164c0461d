/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/group.h"
#include "coll/build/pace.h"

struct group group_of_all(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, unsigned radix, grant_t grant,
                          dcoll_schedule_t *s)
{
    return (struct group){.args = args,
                          .s = s,
                          .me = rank,
                          .ports = shape->ports,
                          .grant = grant,
                          .c = clusters_of(shape->nranks, radix, rank)};
}

struct group group_of_owners(const dcoll_shape_t *shape,
                             const dcoll_args_t *args, unsigned node,
                             unsigned owner, unsigned radix, grant_t grant,
                             dcoll_schedule_t *s)
{
    return (struct group){.args = args,
                          .s = s,
                          .ranks = shape->node_begin,
                          .after = owner,
                          .me = node,
                          .ports = shape->ports,
                          .grant = grant,
                          .c = clusters_of(shape->nnodes, radix, node)};
}

unsigned group_rank(const struct group *g, unsigned number)
{
    return g->ranks ? g->ranks[number] + g->after : number;
}

unsigned group_position(const struct group *g)
{
    return g->me - clusters_begin(&g->c, g->c.own);
}

unsigned group_size(const struct group *g)
{
    return clusters_begin(&g->c, g->c.own + 1) -
           clusters_begin(&g->c, g->c.own);
}

static void change_one(const struct group *g, grant_change_t *change,
                       unsigned number, unsigned port)
{
    change(g->s, g->grant, g->args, group_rank(g, number), port);
}

void group_grant(const struct group *g, grant_change_t *change)
{
    const unsigned position = group_position(g);
    if (position) {
        change_one(g, change, g->me - position, position - 1);
        return;
    }
    for (unsigned i = 1; i < group_size(g); i++)
        change_one(g, change, g->me + i, i - 1);
    for (unsigned w = 1; w < g->c.count; w *= g->c.radix)
        for (unsigned e = 1; e < g->c.radix; e++)
            change_one(g, change, clusters_partner(&g->c, w, g->c.radix - e),
                       e - 1);
}

void group_put(const struct group *g, unsigned number, unsigned port,
               dcoll_place_t src, dcoll_place_t dst, size_t bytes)
{
    pace(g->s, g->args);
    dcoll_add_put(g->s, group_rank(g, number), port, src, dst, bytes);
}

void group_put_first(const struct group *g, unsigned number, unsigned port,
                     dcoll_place_t src, dcoll_place_t dst, size_t bytes)
{
    grant_take(g->s, g->grant, g->args, group_rank(g, number));
    group_put(g, number, port, src, dst, bytes);
}

void group_wait(const struct group *g, unsigned number)
{
    dcoll_add_wait(g->s, group_rank(g, number), DCOLL_DATA, 0);
}

void group_wait_partners(const struct group *g, unsigned weight)
{
    for (unsigned e = 1; e < g->c.radix; e++)
        group_wait(g, clusters_partner(&g->c, weight, g->c.radix - e));
}

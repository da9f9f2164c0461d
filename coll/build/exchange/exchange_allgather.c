/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard exchange all-gather for k ports (Qian and Afsahi 2008,
 * section 5.1.2). If N is a power of k+1: in step i the k+1 ranks that differ
 * only in digit i, to the base k+1, exchange all their blocks, (k+1)^i, one
 * peer per port.
 *
 * Else there are two correction steps. Ranks form clusters (clusters.h). First
 * the members of a cluster put their blocks to its core; then cores exchange;
 * then each core puts all blocks to its members, one per port.
 *
 * The paper only says that correction steps are needed, and in equation (4)
 * that there are (k+1) * ⌊log_{k+1} N⌋ steps for the same bytes. This algorithm
 * takes ⌊log_{k+1} N⌋ + 2 steps, never more except for k = 1 and N = 3, and
 * moves about N
 * + 1 blocks more: equation (4) does not hold for it.
 */
#include "coll/build/flat.h"
#include "coll/build/exchange/exchange_allgather.h"
#include "coll/build/exchange/group.h"

/* Puts the blocks of ranks first … end - 1. */
static void put(const struct group *g, unsigned target, unsigned port,
                unsigned first, unsigned end)
{
    const dcoll_place_t place = board_at(g->args, first);
    group_put_first(g, target, port, place, place,
                    (end - first) * g->args->bytes);
}

static void exchange(const struct group *g)
{
    const struct clusters *c = &g->c;
    g->s->phase = 2;
    for (unsigned w = 1; w < c->count; w *= c->radix, g->s->step++) {
        const unsigned first = c->own - c->own % w;
        for (unsigned e = 1; e < c->radix; e++)
            put(g, clusters_partner(c, w, e), e - 1, clusters_begin(c, first),
                clusters_begin(c, first + w));
        group_wait_partners(g, w);
    }
}

static void as_core(const struct group *g)
{
    const unsigned size = group_size(g);
    for (unsigned i = 1; i < size; i++)
        group_wait(g, g->me + i);
    if (g->c.count < g->c.n)
        g->s->step++;
    exchange(g);
    g->s->phase = 3;
    for (unsigned i = 1; i < size; i++)
        put(g, g->me + i, i - 1, 0, g->c.n);
}

static void as_member(const struct group *g, unsigned position)
{
    const unsigned core = g->me - position;
    put(g, core, position - 1, g->me, g->me + 1);
    g->s->phase = 3;
    g->s->step = (uint16_t)(1 + clusters_steps(&g->c));
    group_wait(g, core);
}

void fold_allgather(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, unsigned ports, dcoll_schedule_t *s)
{
    const grant_t grant = grant_among_all(args, board_space(args));
    const struct group g = group_of_all(shape, args, rank, ports + 1, grant, s);
    const unsigned position = group_position(&g);
    s->phase = 1;
    group_grant(&g, grant_open);
    board_begin(shape, args, rank, s);
    if (position)
        as_member(&g, position);
    else
        as_core(&g);
    board_end(shape, args, rank, s);
    flat_complete(s);
    group_grant(&g, grant_close);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-gather as gather and broadcast (Qian and Afsahi 2008,
 * section 5.2.1). Phases: 1. gather in the node's shared memory; 2. gather
 * between masters to that of node 0; 3. broadcast of all blocks along the
 * binomial tree of masters, and copies out of shared memory.
 *
 * NODE has all blocks in the order of ranks. On node 0 the gather ends there
 * (figure 7), so nothing is moved. The broadcast also overwrites the blocks of
 * the own node, so copying out waits for it; but each rank's own block is
 * copied directly.
 */
#include "coll/build/smp/masters.h"
#include "coll/build/pace.h"
#include "coll/build/smp/smp_gather_bcast.h"

struct gather_bcast {
    struct node node;
    struct tree gather, bcast;
};

/* Puts the blocks of @p count nodes from a node on to the same place there. */
static void put_nodes(const struct node *n, unsigned to, unsigned port,
                      unsigned index, unsigned count)
{
    const unsigned *begin = n->shape->node_begin;
    const size_t bytes = n->args->bytes;
    const dcoll_place_t place = dcoll_at(DCOLL_NODE, begin[index] * bytes);
    dcoll_add_put(n->s, masters_of(n, to), port, place, place,
                  (begin[index + count] - begin[index]) * bytes);
}

static void gather(const struct gather_bcast *m)
{
    const struct node *n = &m->node;
    masters_await_children(n, &m->gather);
    if (n->index == 0)
        return;
    const struct tree_edge edge = tree_up(&m->gather, n->index);
    n->s->step = (uint16_t)edge.level;
    masters_take(n, masters_of(n, edge.parent));
    put_nodes(n, edge.parent, edge.port, n->index, edge.blocks);
}

/* No grants are needed: the broadcast blocks were gathered from all ranks in
 * this start. */
static void bcast(const struct gather_bcast *m)
{
    const struct node *n = &m->node;
    const unsigned last = tree_levels(&m->gather) + tree_levels(&m->bcast) - 1;
    struct tree_edge edge;
    if (n->index > 0) {
        edge = tree_up(&m->bcast, n->index);
        n->s->step = (uint16_t)(last - edge.level);
        dcoll_add_wait(n->s, masters_of(n, edge.parent), DCOLL_DATA, 0);
    }
    for (unsigned i = tree_slots(&m->bcast, n->index); i-- > 0;)
        if (tree_child(&m->bcast, n->index, i, &edge)) {
            n->s->step = (uint16_t)(last - edge.level);
            pace(n->s, n->args);
            put_nodes(n, edge.child, edge.port, 0, n->shape->nnodes);
        }
}

static void lead(const struct gather_bcast *m)
{
    const struct node *n = &m->node;
    masters_collect(n, n->first * n->args->bytes);
    n->s->phase = 2;
    gather(m);
    n->s->phase = 3;
    bcast(m);
    if (n->count > 1)
        node_signal(n, NODE_ARRIVED);
    node_copy_out(n, 0, n->shape->nranks);
    if (n->shape->nnodes > 1)
        dcoll_add_complete(n->s);
}

static void follow(const struct node *n)
{
    n->s->phase = 3;
    node_await(n, n->first, NODE_ARRIVED, 0);
    node_copy_out(n, 0, n->shape->nranks);
}

void smp_gather_bcast(bool star, const dcoll_shape_t *shape,
                      const dcoll_args_t *args, unsigned rank,
                      dcoll_schedule_t *s)
{
    const struct gather_bcast m = {
        .node = node_make(shape, args, rank, s),
        .gather = {.n = shape->nnodes, .k = shape->ports, .star = star},
        .bcast = {.n = shape->nnodes, .k = shape->ports}};
    const bool master = rank == m.node.first;
    s->flags = NODE_ARRIVED + 1;
    s->node_bytes = shape->nranks * args->bytes;

    s->phase = 1;
    if (shape->nranks == 1) {
        node_keep_own(&m.node);
        return;
    }
    node_enter(&m.node);
    if (master)
        masters_grant_children(&m.node, &m.gather);
    if (master)
        masters_keep_own(&m.node, rank * args->bytes);
    else
        node_post(&m.node, node_own(&m.node), rank * args->bytes, args->bytes);
    node_keep_own(&m.node);
    if (master)
        lead(&m);
    else
        follow(&m.node);
    node_leave(&m.node);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware broadcast of long blocks: in pieces among the masters of nodes
 * (build/exchange/circulant_bcast.h), from NODE to NODE; then in shared memory.
 * The root is its own node's master. A master lets others put again when its
 * node's ranks have read the block. One node needs no pieces.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/circulant_bcast.h"
#include "coll/build/flat.h"
#include "coll/build/smp/node.h"

static unsigned root_node(const struct circulant_bcast *b)
{
    return dcoll_shape_node(b->shape, b->args->root);
}

static unsigned rank_of(const struct circulant_bcast *b, unsigned member)
{
    const unsigned nodes = b->shape->nnodes;
    return member ? b->shape->node_begin[(root_node(b) + member) % nodes]
                  : b->args->root;
}

static void be_root(const struct node *n, const struct circulant_bcast *b)
{
    const dcoll_place_t send = dcoll_at(DCOLL_SEND, 0);
    node_await_all(n, NODE_DONE, n->args->depth);
    if (!n->args->zero_copy)
        dcoll_add_copy(n->s, send, b->to, n->args->bytes);
    n->s->phase = 2;
    circulant_bcast_run(b);
    n->s->phase = 3;
    node_post(n, b->from, 0, n->args->bytes);
    flat_complete(n->s);
}

static void be_master(const struct node *n, const struct circulant_bcast *b)
{
    n->s->phase = 2;
    circulant_bcast_run(b);
    n->s->phase = 3;
    node_post(n, b->from, 0, n->args->bytes);
    dcoll_add_copy(n->s, b->from, dcoll_at(DCOLL_RECV, 0), n->args->bytes);
    flat_complete(n->s);
    node_await_all(n, NODE_DONE, 0);
    circulant_bcast_grant(b, grant_close);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    const bool root = rank == args->root;
    const dcoll_place_t board = dcoll_at(DCOLL_NODE, 0);
    struct circulant_bcast b = {
        .shape = shape,
        .args = args,
        .s = s,
        .rank_of = rank_of,
        .from = root && args->zero_copy ? dcoll_at(DCOLL_SEND, 0) : board,
        .to = board,
        .grant = GRANT_CREDIT};
    if (shape->nnodes == 1) {
        bcast_smp.generate(shape, args, rank, s);
        return;
    }
    b.me = flat_before(shape->nnodes, n.index, root_node(&b));
    circulant_bcast_plan(&b, shape->nnodes);
    const unsigned master = rank_of(&b, b.me);
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = args->bytes;
    if (root) {
        be_root(&n, &b);
    } else if (rank == master) {
        be_master(&n, &b);
    } else {
        s->phase = 3;
        node_fetch(&n, master, 0, dcoll_at(DCOLL_RECV, 0), args->bytes);
        node_signal(&n, NODE_DONE);
    }
}

const dcoll_algorithm_t bcast_smp_circulant = {
    .name = "smp-circulant",
    .collective = DCOLL_BCAST,
    .summary = "n pieces on a circulant graph of masters, then shared memory",
    .memory = "NODE: a block",
    .generate = generate,
};

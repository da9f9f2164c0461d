/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware broadcast along the k-port binomial tree of the nodes: each master
 * forwards the block before it posts it in shared memory (Qian and Afsahi
 * 2008, section 5.2: phase 3 of the SMP-aware algorithms). The root is its own
 * node's master. Puts go from NODE to NODE; zero copy: from the root's SEND.
 *
 * The root may run ahead of the others by the depth. A credit, and the flag of
 * a reader, covers half of the depth (grant_bulk()). A master's credit to its
 * parent means that its node has read the blocks of the half before: no rank
 * waits for readers of the present half.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/grant.h"
#include "coll/build/smp/masters.h"
#include "coll/build/pace.h"
#include "coll/build/exchange/tree.h"

struct bcast {
    struct node node;
    struct tree tree;
    unsigned root;   /* its node */
    unsigned me;     /* my node, counted from the root's */
    unsigned master; /* rank */
};

static unsigned master_of(const struct bcast *b, unsigned relative)
{
    if (relative == 0)
        return b->node.args->root;
    return masters_of(&b->node, (b->root + relative) % b->tree.n);
}

/* Waits until the other ranks of my node have read the block of `lag` starts
 * ago. */
static void await_readers(const struct node *n, unsigned lag)
{
    for (unsigned i = 1; i < n->count; i++) {
        node_await(n, node_peer(n, i), NODE_DONE, lag);
        grant_in_bulk(n->s, n->args);
    }
}

static void send_on(const struct bcast *b, dcoll_place_t src)
{
    const struct node *n = &b->node;
    const dcoll_place_t dst = dcoll_at(DCOLL_NODE, 0);
    struct tree_edge edge;
    bool any = false;
    for (unsigned i = tree_slots(&b->tree, b->me); i-- > 0;) {
        if (!tree_child(&b->tree, b->me, i, &edge))
            continue;
        const unsigned child = master_of(b, edge.child);
        n->s->step = (uint16_t)(tree_levels(&b->tree) - 1 - edge.level);
        pace(n->s, n->args);
        dcoll_add_wait(n->s, child, DCOLL_CREDIT,
                       n->args->depth - grant_bulk(n->args));
        grant_in_bulk(n->s, n->args);
        dcoll_add_put(n->s, child, edge.port, src, dst, n->args->bytes);
        any = true;
    }
    n->s->phase = 2;
    node_post(n, src, 0, n->args->bytes);
    if (any)
        dcoll_add_complete(n->s);
}

static void be_root(const struct bcast *b)
{
    const struct node *n = &b->node;
    const bool through_node = !n->args->zero_copy && b->tree.n > 1;
    const dcoll_place_t send = dcoll_at(DCOLL_SEND, 0);
    const dcoll_place_t node = dcoll_at(DCOLL_NODE, 0);
    await_readers(n, n->args->depth);
    if (through_node)
        dcoll_add_copy(n->s, send, node, n->args->bytes);
    send_on(b, through_node ? node : send);
}

static void be_master(const struct bcast *b)
{
    const struct node *n = &b->node;
    const struct tree_edge up = tree_up(&b->tree, b->me);
    const unsigned parent = master_of(b, up.parent);
    const dcoll_place_t here = dcoll_at(DCOLL_NODE, 0);
    await_readers(n, grant_bulk(n->args));
    dcoll_add_notify(n->s, parent, up.port, DCOLL_CREDIT);
    grant_in_bulk(n->s, n->args);
    dcoll_add_wait(n->s, parent, DCOLL_DATA, 0);
    send_on(b, here);
    dcoll_add_copy(n->s, here, dcoll_at(DCOLL_RECV, 0), n->args->bytes);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned nodes = shape->nnodes;
    struct bcast b = {.node = node_make(shape, args, rank, s),
                      .tree = {.n = nodes, .k = shape->ports},
                      .root = dcoll_shape_node(shape, args->root)};
    b.me = (b.node.index + nodes - b.root) % nodes;
    b.master = master_of(&b, b.me);
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = args->bytes;
    if (rank == args->root) {
        be_root(&b);
    } else if (rank == b.master) {
        be_master(&b);
    } else {
        s->phase = 2;
        node_fetch(&b.node, b.master, 0, dcoll_at(DCOLL_RECV, 0), args->bytes);
        node_signal(&b.node, NODE_DONE);
        grant_in_bulk(s, args);
    }
}

const dcoll_algorithm_t bcast_smp = {
    .name = "smp-bcast",
    .collective = DCOLL_BCAST,
    .summary = "binomial tree of masters, then shared memory on nodes",
    .memory = "NODE: a block",
    .generate = generate,
    .ahead = DCOLL_AHEAD_NOTES,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware gather (Qian and Afsahi 2008, section 5.2.1, phases 1 and 2):
 * gather in each node's shared memory, from where masters put straight to the
 * root, through k ports in turn; into its RECV (zero copy), or its node's NODE,
 * where all blocks have their places then. The root is its own node's master
 * and copies from shared memory to the final place (fig. 7). The others may run
 * ahead of the root by the depth; credits are for half of it.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/grant.h"
#include "coll/build/smp/masters.h"

/* The target of puts at the root: each block in its place. */
static dcoll_space_t landing(const dcoll_args_t *args)
{
    return args->zero_copy ? DCOLL_RECV : DCOLL_NODE;
}

static grant_t grant_of(const dcoll_args_t *args)
{
    return grant_along_tree(landing(args));
}

static bool at_root(const struct node *n)
{
    return n->index == dcoll_shape_node(n->shape, n->args->root);
}

/* Lets the other ranks of my node go on. */
static void let_others_go_on(const struct node *n)
{
    node_signal(n, NODE_DONE);
    grant_in_bulk(n->s, n->args);
}

/* The offset in NODE of the blocks that my node's ranks post. */
static size_t posts(const struct node *n)
{
    return at_root(n) && !n->args->zero_copy ? n->first * n->args->bytes : 0;
}

/* At the root: receives the blocks of the node at @p distance. */
static void receive(const struct node *n, unsigned distance)
{
    const unsigned index = masters_after(n, distance);
    const size_t bytes = n->args->bytes;
    const unsigned from = masters_of(n, index);
    dcoll_add_wait(n->s, from, DCOLL_DATA, 0);
    if (!n->args->zero_copy)
        dcoll_add_copy(n->s, dcoll_at(DCOLL_NODE, from * bytes),
                       dcoll_at(DCOLL_RECV, from * bytes),
                       masters_ranks(n, index, 1) * bytes);
    grant_close(n->s, grant_of(n->args), n->args, from,
                (distance - 1) % n->shape->ports);
}

static void be_root(const struct node *n)
{
    const unsigned nodes = n->shape->nnodes;
    for (unsigned d = 1; d < nodes; d++)
        grant_open(n->s, grant_of(n->args), n->args,
                   masters_of(n, masters_after(n, d)),
                   (d - 1) % n->shape->ports);
    node_keep_own(n);
    node_fetch_others(n, posts(n), n->args->bytes);
    let_others_go_on(n);
    n->s->phase = 2;
    for (unsigned d = 1; d < nodes; d++) {
        n->s->step = (uint16_t)((d - 1) / n->shape->ports);
        receive(n, d);
    }
}

static void be_master(const struct node *n)
{
    const dcoll_args_t *args = n->args;
    const unsigned nodes = n->shape->nnodes;
    const unsigned root = dcoll_shape_node(n->shape, args->root);
    const unsigned order = (n->index + nodes - root) % nodes - 1;
    dcoll_add_copy(n->s, dcoll_at(DCOLL_SEND, 0), dcoll_at(DCOLL_NODE, 0),
                   args->bytes);
    for (unsigned i = 1; i < n->count; i++)
        node_fetch(n, n->first + i, i * args->bytes,
                   dcoll_at(DCOLL_NODE, i * args->bytes), args->bytes);
    n->s->phase = 2;
    n->s->step = (uint16_t)(order / n->shape->ports);
    grant_take(n->s, grant_of(args), args, args->root);
    dcoll_add_put(n->s, args->root, order % n->shape->ports,
                  dcoll_at(DCOLL_NODE, 0),
                  dcoll_at(landing(args), n->first * args->bytes),
                  n->count * args->bytes);
    dcoll_add_complete(n->s);
    let_others_go_on(n);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    const unsigned master = at_root(&n) ? args->root : n.first;
    const bool lands = at_root(&n) && !args->zero_copy;
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = (lands ? shape->nranks : n.count) * args->bytes;
    if (rank == args->root) {
        be_root(&n);
    } else if (rank == master) {
        be_master(&n);
    } else {
        node_await(&n, master, NODE_DONE, args->depth);
        grant_in_bulk(s, args);
        node_post(&n, dcoll_at(DCOLL_SEND, 0),
                  posts(&n) + (rank - n.first) * args->bytes, args->bytes);
    }
}

const dcoll_algorithm_t gather_smp = {
    .name = "smp-gather",
    .collective = DCOLL_GATHER,
    .summary =
        "shared memory on nodes, masters put their nodes' blocks to root",
    .memory = "NODE: a block per rank of the node; the root's node: N blocks, "
              "zero copy: as the others",
    .generate = generate,
    .ahead = DCOLL_AHEAD_NOTES,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware reduce. Phases: 1 each node's master combines what its ranks have
 * posted in shared memory, 2 the masters' blocks go along a tree for k ports
 * that keeps the order of nodes (Qian and Afsahi 2008, section 5.2). The root
 * is its own node's master.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"
#include "coll/build/reduce/ordered_tree.h"

/* TEMP: the tree's memory, equal on all nodes; then the node's result; then
 * operands that came in lines. */
static void be_master(const struct node *n, const struct ordered_tree *t)
{
    const size_t bytes = n->args->bytes, tree = ordered_tree_bytes(t);
    const size_t row = tree + combine_stride(bytes);
    const bool alone = n->shape->nnodes == 1, sole = n->count == 1;
    const dcoll_place_t user = combine_user(n->args);
    const dcoll_place_t result =
        dcoll_at(alone ? DCOLL_RECV : DCOLL_TEMP, alone ? 0 : tree);
    n->s->temp_bytes = row + node_row_temp(n);
    if (alone || !sole) {
        const struct operands all = node_operands(n, row);
        combine_in_order(n->s, n->args, &all, result, bytes);
        node_signal(n, NODE_DONE);
    }
    n->s->phase = 2;
    if (!alone)
        ordered_tree_reduce(t, sole ? user : result,
                            !sole || n->args->zero_copy);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    const unsigned root = dcoll_shape_node(shape, args->root);
    const unsigned master = n.index == root ? args->root : n.first;
    const struct ordered_tree t = {.args = args,
                                   .s = s,
                                   .n = shape->nnodes,
                                   .me = n.index,
                                   .root = root,
                                   .ranks = shape->node_begin,
                                   .ports = shape->ports};
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = node_row_bytes(&n);
    if (rank == master) {
        be_master(&n, &t);
    } else {
        node_await(&n, master, NODE_DONE, args->depth);
        node_post(&n, combine_user(args), node_row_own(&n), args->bytes);
    }
}

const dcoll_algorithm_t reduce_smp = {
    .name = "smp-reduce",
    .collective = DCOLL_REDUCE,
    .summary = "masters combine their nodes' blocks, then a binomial tree of "
               "masters",
    .memory = "NODE: a block of each rank of the node, of more than 56 bytes; "
              "TEMP: as binomial, and 1 block, or the node's, of shorter ones",
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter within a node: each rank posts its operands of the other
 * ranks' blocks at once, and combines the operands of its own block. NODE has a
 * row for each block. Synchronised as the all-gather is (allgather/shm.c).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static dcoll_place_t operand(const struct node *n, unsigned block,
                             unsigned from)
{
    const size_t index = (size_t)block * n->count + from;
    return dcoll_at(DCOLL_NODE, index * combine_stride(n->args->bytes));
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const dcoll_place_t send = dcoll_at(DCOLL_SEND, 0);
    const struct operands all = {.count = node.count,
                                 .own = rank,
                                 .row = operand(&node, rank, 0),
                                 .stride = combine_stride(args->bytes),
                                 .mine = combine_at(send, rank * args->bytes),
                                 .spare = operand(&node, rank, rank)};
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = operand(&node, node.count, 0).offset;
    node_enter(&node);
    for (unsigned i = 1; i < node.count; i++) {
        const unsigned peer = node_peer(&node, i);
        dcoll_add_copy(s, combine_at(send, peer * args->bytes),
                       operand(&node, peer, rank), args->bytes);
    }
    node_signal(&node, NODE_POSTED);
    node_await_all(&node, NODE_POSTED, 0);
    combine_in_order(s, args, &all, dcoll_at(DCOLL_RECV, 0), args->bytes);
    node_leave(&node);
}

const dcoll_algorithm_t reduce_scatter_block_shm = {
    .name = "shm-reduce-scatter",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "each posts its operands in shared memory and combines its "
               "block",
    .memory = "NODE: N * N blocks, in whole cache lines",
    .refuses = node_refuses_several,
    .generate = generate,
};

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
    const size_t row = n->count * node_block_at(n->args, block);
    const size_t bytes = dcoll_block_bytes(n->args, block);
    return dcoll_at(DCOLL_NODE, row + from * combine_stride(bytes));
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const dcoll_place_t send = dcoll_at(DCOLL_SEND, 0);
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = node.count * node_block_at(args, node.count);
    node_enter(&node);
    for (unsigned i = 1; i < node.count; i++) {
        const unsigned peer = node_peer(&node, i);
        dcoll_add_copy(s, combine_at(send, dcoll_block_begin(args, peer)),
                       operand(&node, peer, rank),
                       dcoll_block_bytes(args, peer));
    }
    node_signal(&node, NODE_POSTED);
    node_await_all(&node, NODE_POSTED, 0);
    combine_own_block(s, args, node.count, rank, operand(&node, rank, 0));
    node_leave(&node);
}

const dcoll_algorithm_t reduce_scatter_block_shm = {
    .name = "shm-reduce-scatter",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "each posts its operands in shared memory and combines its "
               "block",
    .memory = "NODE: N * N blocks, in whole cache lines",
    .unequal = true,
    .refuses = node_refuses_several,
    .generate = generate,
};

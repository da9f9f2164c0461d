/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter of long blocks within a node: the ranks add their operands to
 * a vector of all blocks in turn, and each copies its block.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node_chain.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const dcoll_place_t send = dcoll_at(DCOLL_SEND, 0);
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const size_t all = dcoll_block_begin(args, node.count);
    const struct node_chain chain = node_chain_of(&node, all, node.first);
    s->phase = 1;
    if (node.count == 1) {
        dcoll_add_copy(s, send, recv, all);
        return;
    }
    node_chain_share(&chain, send, dcoll_block_begin(args, rank),
                     dcoll_block_begin(args, rank + 1), recv);
}

const dcoll_algorithm_t reduce_scatter_block_shm_chain = {
    .name = "shm-chain",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "each adds its operands to a vector in shared memory, in turn, "
               "and copies its block",
    .memory = "NODE: N blocks",
    .node_blocks = 2,
    .unequal = true,
    .refuses = node_refuses_several,
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce of long blocks within a node: the ranks add their blocks to a vector
 * in turn, the root as the last one if the operation commutes. The root tells
 * the first one when the vector may be begun again.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/grant.h"
#include "coll/build/smp/node_chain.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const dcoll_place_t mine = dcoll_at(DCOLL_SEND, 0);
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const unsigned first =
        args->commutes ? (args->root + 1) % node.count : node.first;
    const struct node_chain chain = node_chain_of(&node, args->bytes, first);
    const bool ends = chain.last == args->root;
    s->phase = 1;
    if (node.count == 1) {
        dcoll_add_copy(s, mine, recv, args->bytes);
        return;
    }
    if (rank == chain.first && rank != args->root) {
        node_await(&node, args->root, NODE_DONE, args->depth);
        grant_in_bulk(s, args);
    }
    node_chain_add(&chain, mine, ends ? recv : dcoll_at(DCOLL_NODE, 0));
    if (rank != args->root)
        return;
    if (!ends)
        node_chain_fetch(&chain, 0, args->bytes, recv);
    if (rank != chain.first) {
        node_signal(&node, NODE_DONE);
        grant_in_bulk(s, args);
    }
}

const dcoll_algorithm_t reduce_shm_chain = {
    .name = "shm-chain",
    .collective = DCOLL_REDUCE,
    .summary = "each adds its block to a vector in shared memory, in turn",
    .memory = "NODE: 1 block",
    .ahead = DCOLL_AHEAD_FLAGS,
    .node_blocks = 1,
    .refuses = node_refuses_several,
    .generate = generate,
};

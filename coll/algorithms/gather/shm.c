/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather within a node: all post their blocks at the same time and the root
 * fetches them (Qian and Afsahi 2008, section 4.1), long blocks piece by piece.
 * The others may run ahead of the root by the depth. As in fig. 7 for node 0,
 * the root's own block goes straight to its final place.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    s->phase = 1;
    s->flags = node_pieces_flags(args);
    s->node_bytes = node_block_place(&node, node.count);
    if (rank == args->root) {
        node_keep_own(&node);
        for (unsigned i = 1; i < node.count; i++) {
            const unsigned peer = node_peer(&node, i);
            node_fetch_pieces(
                &node, peer, node_block_place(&node, peer),
                dcoll_at(DCOLL_RECV, dcoll_block_begin(args, peer)));
        }
        node_signal(&node, NODE_DONE);
    } else {
        node_await(&node, args->root, NODE_DONE, args->depth);
        node_post_pieces(&node, dcoll_at(DCOLL_SEND, 0),
                         node_block_place(&node, rank));
    }
}

const dcoll_algorithm_t gather_shm = {
    .name = "shm-gather",
    .collective = DCOLL_GATHER,
    .summary = "each posts its block in shared memory, the root reads them",
    .memory = "NODE: N blocks of more than 56 bytes, in whole cache lines",
    .ahead = DCOLL_AHEAD_FLAGS,
    .node_blocks = 2,
    .unequal = true,
    .refuses = node_refuses_several,
    .generate = generate,
};

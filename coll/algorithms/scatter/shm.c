/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter within a node: the root posts all blocks at once, the others copy
 * theirs. The root may run ahead of them by the depth.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = node_deal_bytes(&node);
    if (rank != args->root) {
        s->temp_bytes = node_deal_temp(&node);
        node_pick(&node, args->root, 0, 0, dcoll_at(DCOLL_RECV, 0));
        node_signal(&node, NODE_DONE);
        return;
    }
    node_await_all(&node, NODE_DONE, args->depth);
    node_deal(&node, DCOLL_SEND, 0);
    dcoll_add_copy(s, dcoll_at(DCOLL_SEND, dcoll_block_begin(args, rank)),
                   dcoll_at(DCOLL_RECV, 0), dcoll_block_bytes(args, rank));
}

const dcoll_algorithm_t scatter_shm = {
    .name = "shm-scatter",
    .collective = DCOLL_SCATTER,
    .summary = "the root posts all blocks in shared memory, each reads its own",
    .memory = "NODE: N blocks if more than 56 bytes together or of different "
              "sizes; TEMP: 64 bytes if not",
    .ahead = DCOLL_AHEAD_FLAGS,
    .unequal = true,
    .refuses = node_refuses_several,
    .generate = generate,
};

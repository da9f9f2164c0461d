/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast within a node: the root posts, the others fetch (Qian and Afsahi
 * 2008, section 4.1), long blocks piece by piece. The paper then synchronises
 * all; here the root may run ahead of them by the depth.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    s->phase = 1;
    s->flags = node_pieces_flags(args);
    s->node_bytes = node_stride(args->bytes);
    if (rank == args->root) {
        node_await_all(&node, NODE_DONE, args->depth);
        node_post_pieces(&node, dcoll_at(DCOLL_SEND, 0), 0);
    } else {
        node_fetch_pieces(&node, args->root, 0, dcoll_at(DCOLL_RECV, 0));
        node_signal(&node, NODE_DONE);
    }
}

const dcoll_algorithm_t bcast_shm = {
    .name = "shm-bcast",
    .collective = DCOLL_BCAST,
    .summary = "the root posts its block in shared memory, the others read it",
    .memory = "NODE: a block of more than 56 bytes, in whole cache lines",
    .ahead = DCOLL_AHEAD_FLAGS,
    .refuses = node_refuses_several,
    .generate = generate,
};

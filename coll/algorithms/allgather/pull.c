/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather within a node without a copy through shared memory: each rank
 * reads the others' blocks where they are (the single-copy way that Qian and
 * Afsahi 2008, section 4.2, leaves to the kernel; RDMA reads need no kernel).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/pull.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    pull_begin(&node);
    node_keep_own(&node);
    for (unsigned i = 1; i < node.count; i++) {
        const unsigned peer = node_peer(&node, i);
        pull_from(&node, peer,
                  args->in_place ? dcoll_block_begin(args, peer) : 0);
    }
    pull_end(&node);
}

const dcoll_algorithm_t allgather_pull = {
    .name = "pull",
    .collective = DCOLL_ALLGATHER,
    .summary = "each reads the others' blocks where they are, by RDMA",
    .memory = "none",
    .refuses = node_refuses_several,
    .unequal = true,
    .generate = generate,
};

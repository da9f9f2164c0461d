/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather within a node: each rank posts its block and fetches all others
 * (Qian and Afsahi 2008, section 4.1; Qian et al. 2008, section 5.2, phase 1).
 *
 * A rank that has seen all posts of a start knows that all ranks have finished
 * the start before. So with depth 2 nothing is overwritten while it is read;
 * with depth 1 each rank must signal that it has read.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const size_t stride = node_stride(args->bytes);
    s->phase = 1;
    s->flags = args->depth == 1 ? NODE_DONE + 1 : NODE_POSTED + 1;
    s->node_bytes = node.count * stride;
    node_enter(&node);
    node_post(&node, node_own(&node), rank * stride, args->bytes);
    node_keep_own(&node);
    node_fetch_others(&node, 0, stride);
    node_leave(&node);
}

const dcoll_algorithm_t allgather_shm = {
    .name = "shm-allgather",
    .collective = DCOLL_ALLGATHER,
    .summary = "each posts its block in shared memory and reads the others'",
    .memory = "NODE: N blocks of more than 56 bytes, in whole cache lines",
    .refuses = node_refuses_several,
    .generate = generate,
};

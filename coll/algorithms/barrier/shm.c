/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier within a node: each rank sets its flag and waits for all others. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    s->phase = 1;
    s->flags = NODE_POSTED + 1;
    node_signal(&node, NODE_POSTED);
    node_await_all(&node, NODE_POSTED, 0);
}

const dcoll_algorithm_t barrier_shm = {
    .name = "shm-barrier",
    .collective = DCOLL_BARRIER,
    .summary = "each sets its flag in shared memory and reads the others'",
    .memory = "none but a flag per rank",
    .refuses = node_refuses_several,
    .generate = generate,
};

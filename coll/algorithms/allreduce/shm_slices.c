/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce within a node, of long blocks: each rank combines a slice of all
 * blocks, then all copy the slices.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node_slices.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    struct node_slices slices = node_slices_of(&node, node.count);
    s->phase = 1;
    s->flags = node_slices_flags(&slices);
    s->node_bytes = node_slices_bytes(&slices);
    s->temp_bytes = slices.room;
    slices.result = dcoll_at(DCOLL_RECV, 0);
    slices.to = SLICES_TO_ALL;
    node_slices_reduce(&slices);
}

const dcoll_algorithm_t allreduce_shm_slices = {
    .name = "shm-slices",
    .collective = DCOLL_ALLREDUCE,
    .summary = "each combines a slice of all blocks in shared memory",
    .memory = "NODE: N blocks, or 2 N pieces of 256 KiB to 1 MiB; TEMP: 1/N of "
              "that",
    .refuses = node_refuses_several,
    .generate = generate,
};

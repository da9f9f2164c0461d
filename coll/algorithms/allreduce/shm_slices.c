/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce within a node, of long blocks: each rank combines a slice of all
 * blocks, then all copy the slices.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/node_slices.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    node_slices_allreduce(&node);
}

const dcoll_algorithm_t allreduce_shm_slices = {
    .name = "shm-slices",
    .collective = DCOLL_ALLREDUCE,
    .summary = "each combines a slice of all blocks in shared memory",
    .memory = "NODE: N blocks, in whole cache lines, or 2 N chunks of 256 KiB "
              "to 1 MiB",
    .refuses = node_refuses_several,
    .generate = generate,
};

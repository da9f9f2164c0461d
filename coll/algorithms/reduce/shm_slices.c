/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce within a node, of long blocks: each rank combines a slice of all
 * blocks, and the root copies the slices. The root posts its block
 * after it has copied those of the start before; a rank that sees this may
 * reuse its memory of that start (depth 2).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node_slices.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const bool once = args->depth == 1, root = rank == args->root;
    struct node_slices slices = node_slices_of(&node, node.count);
    s->phase = 1;
    s->flags = node_slices_flags(&slices);
    s->node_bytes = node_slices_bytes(&slices);
    s->temp_bytes = slices.room;
    slices.result = dcoll_at(DCOLL_RECV, 0);
    slices.to = SLICES_TO_ROOT;
    if (once && !root)
        node_await(&node, args->root, NODE_DONE, 1);
    node_slices_reduce(&slices);
    if (once && root)
        node_signal(&node, NODE_DONE);
}

const dcoll_algorithm_t reduce_shm_slices = {
    .name = "shm-slices",
    .collective = DCOLL_REDUCE,
    .summary = "each combines a slice of all blocks in shared memory",
    .memory = "NODE: N blocks, or 2 N pieces of 256 KiB to 1 MiB; TEMP: 1/N of "
              "that",
    .refuses = node_refuses_several,
    .generate = generate,
};

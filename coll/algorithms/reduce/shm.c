/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce within a node: all post their blocks at the same time and the root
 * combines them, as a gather does (seed 000, section 4.1). The others may run
 * ahead of the root by the depth.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct node node = node_make(shape, args, rank, s);
    node.sole = true;
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = node_row_bytes(&node);
    s->temp_bytes = rank == args->root ? node_row_temp(&node) : 0;
    if (rank == args->root) {
        const struct operands all = node_operands(&node, 0);
        combine_in_order(s, args, &all, dcoll_at(DCOLL_RECV, 0), args->bytes);
        node_signal(&node, NODE_DONE);
    } else {
        node_await(&node, args->root, NODE_DONE, args->depth);
        node_post(&node, combine_user(args), node_row_own(&node), args->bytes);
    }
}

const dcoll_algorithm_t reduce_shm = {
    .name = "shm-reduce",
    .collective = DCOLL_REDUCE,
    .summary = "each posts its block in shared memory, the root combines them",
    .memory = "NODE: N blocks of more than 56 bytes, in whole cache lines; "
              "TEMP: N shorter ones",
    .ahead = DCOLL_AHEAD_FLAGS,
    .refuses = node_refuses_several,
    .generate = generate,
};

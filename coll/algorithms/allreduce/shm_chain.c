/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce of long blocks within a node: the ranks add their blocks to a
 * vector in turn, and all copy it.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node_chain.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const dcoll_place_t mine = combine_user(args);
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const struct node_chain chain =
        node_chain_of(&node, args->bytes, node.first);
    s->phase = 1;
    if (node.count == 1) {
        if (!args->in_place)
            dcoll_add_copy(s, mine, recv, args->bytes);
        return;
    }
    node_chain_share(&chain, mine, 0, args->bytes, recv);
}

const dcoll_algorithm_t allreduce_shm_chain = {
    .name = "shm-chain",
    .collective = DCOLL_ALLREDUCE,
    .summary = "each adds its block to a vector in shared memory, in turn, and "
               "copies it",
    .memory = "NODE: 1 block",
    .node_blocks = 1,
    .refuses = node_refuses_several,
    .generate = generate,
};

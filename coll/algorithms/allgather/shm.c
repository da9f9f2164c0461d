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

/* A block's place in NODE, unless all fit a line. */
static size_t place(const struct node *node, unsigned rank)
{
    return node_fits_line(node->args->bytes) ? 0
                                             : node_block_at(node->args, rank);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    s->phase = 1;
    s->flags = args->depth == 1 ? NODE_DONE + 1 : NODE_POSTED + 1;
    s->node_bytes = place(&node, node.count);
    node_enter(&node);
    node_post(&node, node_own(&node), place(&node, rank),
              dcoll_block_bytes(args, rank));
    node_keep_own(&node);
    for (unsigned i = 1; i < node.count; i++) {
        const unsigned peer = node_peer(&node, i);
        node_fetch(&node, peer, place(&node, peer),
                   dcoll_at(DCOLL_RECV, dcoll_block_begin(args, peer)),
                   dcoll_block_bytes(args, peer));
    }
    node_leave(&node);
}

const dcoll_algorithm_t allgather_shm = {
    .name = "shm-allgather",
    .collective = DCOLL_ALLGATHER,
    .summary = "each posts its block in shared memory and reads the others'",
    .memory = "NODE: N blocks of more than 56 bytes, in whole cache lines",
    .unequal = true,
    .refuses = node_refuses_several,
    .generate = generate,
};

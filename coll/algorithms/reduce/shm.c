/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce within a node: all post their blocks at the same time and the root
 * combines them, as a gather does (Qian and Afsahi 2008, section 4.1). Long
 * blocks are combined piece by piece, while the next pieces are posted. The
 * others may run ahead of the root by the depth.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void combine(const struct node *node, const struct slices *pieces)
{
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    if (pieces->count == 1) {
        const struct operands all = node_operands(node, 0);
        combine_in_order(node->s, node->args, &all, recv, node->args->bytes);
        return;
    }
    for (unsigned i = 0; i < pieces->count; i++) {
        const size_t begin = slices_begin(pieces, i);
        const struct operands all = node_row(node, 0, begin);
        node_await_all(node, NODE_ARRIVED + i, 0);
        combine_in_order(node->s, node->args, &all, combine_at(recv, begin),
                         slices_begin(pieces, i + 1) - begin);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const struct slices pieces = node_pieces(args);
    s->phase = 1;
    s->flags = node_pieces_flags(args);
    s->node_bytes = node_row_bytes(&node);
    s->temp_bytes = rank == args->root ? node_row_temp(&node) : 0;
    if (rank == args->root) {
        combine(&node, &pieces);
        node_signal(&node, NODE_DONE);
    } else {
        node_await(&node, args->root, NODE_DONE, args->depth);
        node_post_pieces(&node, combine_user(args), node_row_own(&node));
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

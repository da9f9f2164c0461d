/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All blocks as one vector along the tree of all-reduce `tree`, and back; each
 * rank keeps its own. For short blocks: 2 (N-1) messages, the fewest.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/ordered_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    dcoll_args_t vector = *args;
    vector.bytes = dcoll_block_begin(args, shape->nranks);
    const struct ordered_tree t = {.args = &vector,
                                   .s = s,
                                   .n = shape->nranks,
                                   .me = rank,
                                   .ports = shape->ports,
                                   .grant = GRANT_IMPLIED};
    const dcoll_place_t result = dcoll_at(DCOLL_TEMP, ordered_tree_bytes(&t));
    s->phase = 1;
    s->temp_bytes = result.offset + combine_stride(vector.bytes);
    ordered_tree_reduce(&t, dcoll_at(DCOLL_SEND, 0), args->zero_copy, result);
    s->phase = 2;
    ordered_tree_bcast(&t, result);
    flat_complete(s); /* in place, the result overwrites block 0 of SEND */
    dcoll_add_copy(s, combine_at(result, dcoll_block_begin(args, rank)),
                   dcoll_at(DCOLL_RECV, 0), dcoll_block_bytes(args, rank));
}

const dcoll_algorithm_t reduce_scatter_block_tree = {
    .name = "tree",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "all blocks to rank 0 along a k-port tree, and back",
    .memory = "TEMP: (k+1) ⌈log_{k+1} N⌉ + 1 times N blocks",
    .unequal = true,
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce to rank 0 along a tree for k ports that keeps the order of ranks, then
 * broadcast along the same tree: 2 (N-1) messages, the fewest, for hosts whose
 * ranks share cores. A rank that has the result knows that all ranks have
 * begun, and that its operand has been read: puts need no grant.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/ordered_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct ordered_tree t = {.args = args,
                                   .s = s,
                                   .n = shape->nranks,
                                   .me = rank,
                                   .ports = shape->ports,
                                   .grant = GRANT_IMPLIED};
    const dcoll_place_t result = dcoll_at(DCOLL_TEMP, ordered_tree_bytes(&t));
    s->phase = 1;
    s->temp_bytes = result.offset + combine_stride(args->bytes);
    ordered_tree_reduce(&t, combine_user(args), args->zero_copy, result);
    s->phase = 2;
    ordered_tree_bcast(&t, result);
    dcoll_add_copy(s, result, dcoll_at(DCOLL_RECV, 0), args->bytes);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_tree = {
    .name = "tree",
    .collective = DCOLL_ALLREDUCE,
    .summary = "reduce to rank 0 along a k-port tree, and broadcast along the "
               "same tree",
    .memory = "TEMP: (k+1) ⌈log_{k+1} N⌉ + 1 blocks",
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce over a tree for k ports that keeps the order of ranks:
 * ⌈log_{k+1} N⌉ steps of one block (the gather of Qian and Afsahi 2008,
 * section 5.1.1, combining the received blocks).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/ordered_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct ordered_tree t = {.args = args,
                                   .s = s,
                                   .n = shape->nranks,
                                   .me = rank,
                                   .root = args->root,
                                   .ports = shape->ports};
    s->phase = 1;
    s->temp_bytes = ordered_tree_bytes(&t);
    ordered_tree_reduce(&t, combine_user(args), args->zero_copy);
}

const dcoll_algorithm_t reduce_binomial = {
    .name = "binomial",
    .collective = DCOLL_REDUCE,
    .summary = "k-port binomial tree that keeps the order of ranks",
    .memory = "TEMP: (k+1) ⌈log_{k+1} N⌉ blocks",
    .ahead = DCOLL_AHEAD_NOTES,
    .generate = generate,
};

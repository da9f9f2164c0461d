/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter over the spanning binomial tree for k ports, which the gather of Qian
 * and Afsahi 2008, section 5.1.1, is derived from: ⌈log_{k+1} N⌉ steps.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/over_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    const struct tree tree = {
        .n = shape->nranks, .k = shape->ports, .star = false};
    scatter_over_tree(&tree, args, rank, out);
}

const dcoll_algorithm_t scatter_binomial = {
    .name = "binomial",
    .collective = DCOLL_SCATTER,
    .summary = "k-port spanning binomial tree (Qian and Afsahi 2008, 5.1.1)",
    .memory = "TEMP: blocks of the rank's subtree, root N; zero copy: inner "
              "ranks only",
    .unequal = true,
    .generate = generate,
    .ahead = DCOLL_AHEAD_NOTES,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scatter where the root puts its block to every rank: ⌈(N-1)/k⌉ steps.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/over_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    const struct tree tree = {
        .n = shape->nranks, .k = shape->ports, .star = true};
    scatter_over_tree(&tree, args, rank, out);
}

const dcoll_algorithm_t scatter_direct = {
    .name = "direct",
    .collective = DCOLL_SCATTER,
    .summary = "the root to every rank",
    .memory = "TEMP: root N blocks, the others 1; zero copy: none",
    .unequal = true,
    .generate = generate,
    .ahead = DCOLL_AHEAD_NOTES,
};

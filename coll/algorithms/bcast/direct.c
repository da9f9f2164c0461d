/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast where the root puts the block to every rank: ⌈(N-1)/k⌉ steps.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/over_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    const struct tree tree = {
        .n = shape->nranks, .k = shape->ports, .star = true};
    bcast_over_tree(&tree, args, rank, out);
}

const dcoll_algorithm_t bcast_direct = {
    .name = "direct",
    .collective = DCOLL_BCAST,
    .summary = "the root to every rank",
    .memory = "TEMP: 1 block; zero copy: none",
    .generate = generate,
};

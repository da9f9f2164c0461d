/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather where every rank puts its block to the root: ⌈(N-1)/k⌉ steps of one
 * block a port (Qian and Afsahi 2008, section 5.1.1, eq. 2).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/over_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    const struct tree tree = {
        .n = shape->nranks, .k = shape->ports, .star = true};
    gather_over_tree(&tree, args, rank, out);
}

const dcoll_algorithm_t gather_direct = {
    .name = "direct",
    .collective = DCOLL_GATHER,
    .summary = "every rank to the root (Qian and Afsahi 2008, 5.1.1)",
    .memory = "TEMP: root N blocks, the others 1; zero copy: none",
    .unequal = true,
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast over the (k+1)-nomial tree: ⌈log_{k+1} N⌉ steps of one block. The
 * tree of the k-port gather (Qian and Afsahi 2008, section 5.1.1), from the
 * root down.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/over_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    const struct tree tree = {
        .n = shape->nranks, .k = shape->ports, .star = false};
    bcast_over_tree(&tree, args, rank, out);
}

const dcoll_algorithm_t bcast_binomial = {
    .name = "binomial",
    .collective = DCOLL_BCAST,
    .summary = "k-port binomial tree (Qian and Afsahi 2008, 5.1.1)",
    .memory = "TEMP: 1 block; zero copy: none",
    .generate = generate,
};

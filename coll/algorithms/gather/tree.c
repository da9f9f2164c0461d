/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather over a binomial tree with one port: the reference of Qian and Afsahi
 * 2008 (section 3.1: the tree of elan_gather).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/over_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    const struct tree tree = {.n = shape->nranks, .k = 1, .star = false};
    gather_over_tree(&tree, args, rank, out);
}

const dcoll_algorithm_t gather_tree = {
    .name = "tree",
    .collective = DCOLL_GATHER,
    .summary = "single-port binomial tree (Qian and Afsahi 2008, 3.1)",
    .memory = "TEMP: blocks of the rank's subtree, root N; zero copy: inner "
              "ranks only",
    .unequal = true,
    .generate = generate,
};

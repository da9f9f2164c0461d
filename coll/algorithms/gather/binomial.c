/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather over the spanning binomial tree for k ports: ⌈log_{k+1} N⌉ steps, in
 * step i of them messages of (k+1)^i blocks (Qian and Afsahi 2008,
 * section 5.1.1, eq. 1). The first form of eq. (1) counts whole messages; its
 * second one, (N-1)/k, is the same only for N a power of k+1. A root other than
 * 0 gets its blocks in the order of relative ranks: zero copy takes two puts
 * where they wrap.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/over_tree.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    const struct tree tree = {
        .n = shape->nranks, .k = shape->ports, .star = false};
    gather_over_tree(&tree, args, rank, out);
}

const dcoll_algorithm_t gather_binomial = {
    .name = "binomial",
    .collective = DCOLL_GATHER,
    .summary = "k-port spanning binomial tree (Qian and Afsahi 2008, 5.1.1)",
    .memory = "TEMP: blocks of the rank's subtree, root N; zero copy: inner "
              "ranks only",
    .unequal = true,
    .generate = generate,
};

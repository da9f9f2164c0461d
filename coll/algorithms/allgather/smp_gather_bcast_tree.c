/* SPDX-License-Identifier: BSD-3-Clause */
/* SMP-aware gather and broadcast: masters gather along the binomial tree (Qian
 * and Afsahi 2008, section 5.2.1). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/smp_gather_bcast.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    smp_gather_bcast(false, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_smp_gather_bcast_tree = {
    .name = "smp-gather-bcast-tree",
    .collective = DCOLL_ALLGATHER,
    .summary =
        "shared memory on nodes, masters gather along a tree, then broadcast",
    .memory = "NODE: N blocks",
    .generate = generate,
};

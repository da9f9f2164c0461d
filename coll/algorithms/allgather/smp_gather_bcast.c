/* SPDX-License-Identifier: BSD-3-Clause */
/* SMP-aware gather and broadcast: masters put straight to that of node 0 (Qian
 * and Afsahi 2008, section 5.2.1). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/smp_gather_bcast.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    smp_gather_bcast(true, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_smp_gather_bcast = {
    .name = "smp-gather-bcast",
    .collective = DCOLL_ALLGATHER,
    .summary =
        "shared memory on nodes, masters gather directly, then broadcast",
    .memory = "NODE: N blocks",
    .generate = generate,
};

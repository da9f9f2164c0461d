/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-gather with a direct exchange between the masters: each puts
 * its node's blocks to all others, k at a time (Qian and Afsahi 2008,
 * section 5.2.2, fig. 8).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/radix.h"
#include "coll/build/smp/smp_allgather.h"

static unsigned steps(unsigned nodes, unsigned k)
{
    return radix_steps(nodes, k);
}

static bool message(unsigned nodes, unsigned k, unsigned step, unsigned port,
                    unsigned *distance, unsigned *count)
{
    *distance = step * k + port + 1;
    *count = 1;
    return *distance < nodes;
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    static const struct smp_exchange direct = {
        .steps = steps, .independent = true, .message = message};
    smp_allgather(&direct, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_smp_direct = {
    .name = "smp-direct",
    .collective = DCOLL_ALLGATHER,
    .summary = "shared memory on nodes, masters put their nodes' blocks to all",
    .memory = "NODE: N blocks",
    .generate = generate,
};

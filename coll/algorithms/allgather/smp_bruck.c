/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-gather with Bruck's exchange between the masters: in step i
 * each puts all that it has, at most (k+1)^i nodes' blocks, to the k nodes at
 * distances (k+1)^i, 2 (k+1)^i, … (seed 000, section 5.2.2).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp.h"

static unsigned steps(unsigned nodes, unsigned k)
{
    unsigned result = 0;
    for (unsigned have = 1; have < nodes; have *= k + 1)
        result++;
    return result;
}

static bool message(unsigned nodes, unsigned k, unsigned step, unsigned port,
                    unsigned *distance, unsigned *count)
{
    unsigned have = 1;
    while (step--)
        have *= k + 1;
    *distance = (port + 1) * have;
    if (*distance >= nodes)
        return false;
    *count = nodes - *distance < have ? nodes - *distance : have;
    return true;
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    static const struct smp_exchange bruck = {.steps = steps,
                                              .message = message};
    smp_allgather(&bruck, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_smp_bruck = {
    .name = "smp-bruck",
    .collective = DCOLL_ALLGATHER,
    .summary = "shared memory on nodes, Bruck's exchange between masters",
    .memory = "NODE: N blocks; TEMP of masters: N blocks, zero copy: none",
    .generate = generate,
};

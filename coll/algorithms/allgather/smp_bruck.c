/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-gather with Bruck's exchange between the masters: in step i
 * each puts all its blocks, those of (k+1)^i nodes, to the k nodes at distances
 * (k+1)^i, 2 (k+1)^i, …, less in the last step (Qian and Afsahi 2008,
 * section 5.2.2).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck.h"
#include "coll/build/flat.h"
#include "coll/build/smp/smp_allgather.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    static const struct smp_exchange bruck = {.steps = flat_steps,
                                              .message = bruck_message_of};
    smp_allgather(&bruck, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_smp_bruck = {
    .name = "smp-bruck",
    .collective = DCOLL_ALLGATHER,
    .summary = "shared memory on nodes, Bruck's exchange between masters",
    .memory = "NODE: N blocks",
    .generate = generate,
};

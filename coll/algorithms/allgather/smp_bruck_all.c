/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-gather with Bruck's exchange between all ranks of the nodes
 * (Bienz, Gautam and Kharel 2022, arXiv 2206.03564; here for k ports): in a
 * step each of the L ranks of a node exchanges with k other nodes. So a node is
 * one that has kL ports: ⌈log_{kL+1} H⌉ steps between H nodes. L: ranks of
 * the smallest node.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck.h"
#include "coll/build/flat.h"
#include "coll/build/smp/smp_allgather.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    static const struct smp_exchange bruck = {
        .all = true, .steps = flat_steps, .message = bruck_message_of};
    smp_allgather(&bruck, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_smp_bruck_all = {
    .name = "smp-bruck-all",
    .collective = DCOLL_ALLGATHER,
    .summary = "shared memory on nodes, Bruck's exchange between all ranks "
               "(Bienz et al. 2022)",
    .memory = "NODE: N blocks",
    .generate = generate,
};

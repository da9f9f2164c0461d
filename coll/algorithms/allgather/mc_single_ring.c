/* SPDX-License-Identifier: BSD-3-Clause */
/* All-gather with one group and one connection per master, in a ring: the
 * reference for multi-connection algorithms (Qian et al. 2008, sections 4
 * and 5.1). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/multi_connection.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    multi_allgather(1, true, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_mc_single_ring = {
    .name = "mc-single-ring",
    .collective = DCOLL_ALLGATHER,
    .summary = "one master per node, in a ring",
    .memory = "NODE: N blocks; TEMP of masters: their groups' blocks, zero "
              "copy: none",
    .generate = generate,
};

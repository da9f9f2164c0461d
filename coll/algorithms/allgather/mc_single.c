/* SPDX-License-Identifier: BSD-3-Clause */
/* Multi-connection all-gather with one group: its masters put to all others at
 * once (Qian et al. 2008, section 5.1). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/multi_connection.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    multi_allgather(1, false, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_mc_single = {
    .name = "mc-single",
    .collective = DCOLL_ALLGATHER,
    .summary = "one master per node, which puts to all others at once",
    .memory = "NODE: N blocks; TEMP of masters: their groups' blocks, zero "
              "copy: none",
    .generate = generate,
};

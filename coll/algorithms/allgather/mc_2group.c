/* SPDX-License-Identifier: BSD-3-Clause */
/* Multi-connection all-gather with two groups, each with a master per node
 * (Qian et al. 2008, section 5.3.1). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/multi_connection.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    multi_allgather(2, false, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_mc_2group = {
    .name = "mc-2group",
    .collective = DCOLL_ALLGATHER,
    .summary = "two masters per node, each of which puts to its like at once",
    .memory = "NODE: N blocks; TEMP of masters: their groups' blocks, zero "
              "copy: none",
    .generate = generate,
};

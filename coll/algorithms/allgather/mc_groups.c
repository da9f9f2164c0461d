/* SPDX-License-Identifier: BSD-3-Clause */
/* Multi-connection all-gather with any number of groups, by default half of the
 * ranks of the smallest node (Qian et al. 2008, section 5.3). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/multi_connection.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    multi_allgather(args->groups ? args->groups
                                 : (multi_most_groups(shape) + 1) / 2,
                    false, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_mc_groups = {
    .name = "mc-groups",
    .collective = DCOLL_ALLGATHER,
    .summary = "any number of masters per node (--groups)",
    .memory = "NODE: N blocks; TEMP of masters: their groups' blocks, zero "
              "copy: none",
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Multi-connection all-gather with as many groups as the smallest node has
 * ranks (Qian et al. 2008, section 5.3.2). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/multi_connection.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    multi_allgather(shape->nranks, false, shape, args, rank, s);
}

const dcoll_algorithm_t allgather_mc_allgroup = {
    .name = "mc-allgroup",
    .collective = DCOLL_ALLGATHER,
    .summary = "all ranks put to their like on all other nodes at once",
    .memory = "NODE: N blocks; TEMP of masters: their groups' blocks, zero "
              "copy: none",
    .generate = generate,
};

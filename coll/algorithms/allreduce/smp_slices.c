/* SPDX-License-Identifier: BSD-3-Clause */
/* SMP-aware all-reduce of long blocks: all owners of a slice get its result. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/smp/smp_slices.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct smp_slices x;
    s->phase = 1;
    smp_slices_open(&x, shape, args, rank, GRANT_IMPLIED, s);
    smp_slices_combine(&x);
    s->phase = 2;
    if (x.slice.bytes)
        halving_run(&x.exchange);
    smp_slices_signal(&x);
    s->phase = 3;
    smp_slices_copy_out(&x);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_smp_slices = {
    .name = "smp-slices",
    .collective = DCOLL_ALLREDUCE,
    .summary = "ranks combine slices of their node's blocks, and exchange them "
               "with other nodes' by recursive halving",
    .memory = "NODE: a block, and as shm-slices within the node; TEMP: as "
              "halving, of a slice",
    .generate = generate,
};

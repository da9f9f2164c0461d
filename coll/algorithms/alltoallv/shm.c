/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all within a node, not from the papers: each rank offers its
 * elements in a table in shared memory. Short parts are in the table, long
 * parts are read in the sender's buffer. So no count need be known before.
 * Ranks wait for each other once; a rank with long parts waits once more, for
 * its readers.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/offers.h"

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    const char *several = node_refuses_several(shape, args);
    return several ? several : offers_refuse(shape, args);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct offers o = offers_make(shape, args, rank, s);
    s->phase = 1;
    offers_post(&o);
    offers_await(&o);
    offers_expect(&o);
    offers_pick(&o);
    offers_close(&o);
}

const dcoll_algorithm_t alltoallv_shm = {
    .name = "shm-alltoallv",
    .collective = DCOLL_ALLTOALLV,
    .summary = "each says in shared memory what it has, and reads what is for "
               "it, large parts where they are",
    .memory = "NODE: N parts of 8 to 256 KiB, 4 MiB in all; elements without "
              "counts: N * bound",
    .depth = 2,
    .refuses = refuses,
    .generate = generate,
};

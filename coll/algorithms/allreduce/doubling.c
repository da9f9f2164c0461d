/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive doubling for k ports (doubling.c): the exchange of Qian and Afsahi
 * 2008, section 5.1.2, combining the received blocks in each step. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/combine.h"
#include "coll/build/reduce/doubling.h"
#include "coll/build/flat.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const grant_t grant = grant_among_all(args, DCOLL_TEMP);
    const unsigned radix = clusters_radix(shape->nranks, shape->ports + 1);
    const struct doubling d = {
        .g = group_of_all(shape, args, rank, radix, grant, s)};
    s->phase = 1;
    s->temp_bytes = doubling_bytes(&d);
    group_grant(&d.g, grant_open);
    dcoll_add_copy(s, combine_user(args), doubling_own(&d), args->bytes);
    doubling_run(&d, dcoll_at(DCOLL_RECV, 0));
    flat_complete(s);
    group_grant(&d.g, grant_close);
}

const dcoll_algorithm_t allreduce_doubling = {
    .name = "doubling",
    .collective = DCOLL_ALLREDUCE,
    .summary = "k-port recursive doubling of whole blocks",
    .memory = "TEMP: (k+1) (⌊log_{k+1} N⌋ + 1) + 1 blocks",
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive halving and doubling for k ports (halving.c). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/halving.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const dcoll_space_t space = board_space(args);
    const grant_t grant = args->zero_copy ? GRANT_READY : GRANT_IMPLIED;
    const struct halving h = {
        .g = group_of_all(shape, args, rank, shape->ports + 1, grant, s),
        .stages = radix_of(shape->nranks, shape->ports),
        .vector = dcoll_at(space, 0),
        .user = combine_user(args),
        .direct = args->zero_copy,
        .temp = args->zero_copy ? 0 : combine_stride(args->bytes)};
    s->phase = 1;
    s->temp_bytes = h.temp + halving_bytes(&h);
    halving_open(&h);
    halving_run(&h);
    if (!args->zero_copy)
        dcoll_add_copy(s, h.vector, recv, args->bytes);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_halving = {
    .name = "halving",
    .collective = DCOLL_ALLREDUCE,
    .summary = "k-port recursive halving, and doubling of the results",
    .memory = "TEMP: 2 to 3 blocks; zero copy: 1 fewer",
    .generate = generate,
};

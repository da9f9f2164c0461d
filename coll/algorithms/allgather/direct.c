/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct all-gather: in step i = 1 … ⌈(N-1)/k⌉ rank p puts its block to ranks
 * p + (i-1)k + 1 … p + ik, one a port (seed 000, section 5.1.2, eq. 2). The
 * ports keep the steps apart: all puts are posted at once.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"

static void put_to_all(const dcoll_shape_t *shape, const dcoll_args_t *args,
                       unsigned rank, grant_t grant, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    const dcoll_place_t place = board_at(args, rank);
    for (unsigned d = 1; d < n; d++) {
        const unsigned target = flat_after(n, rank, d);
        s->step = (uint16_t)((d - 1) / shape->ports);
        grant_take(s, grant, args, target);
        dcoll_add_put(s, target, (d - 1) % shape->ports,
                      args->zero_copy ? board_source(args, rank) : place, place,
                      args->bytes);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks, k = shape->ports;
    const grant_t grant = grant_among_all(args, board_space(args));
    s->phase = 1;
    for (unsigned d = 1; d < n; d++)
        grant_open(s, grant, flat_before(n, rank, d), (d - 1) % k);
    if (!args->zero_copy)
        board_begin(shape, args, rank, s);
    put_to_all(shape, args, rank, grant, s);
    if (args->zero_copy)
        board_begin(shape, args, rank, s);
    for (unsigned d = 1; d < n; d++) {
        s->step = (uint16_t)((d - 1) / k);
        dcoll_add_wait(s, flat_before(n, rank, d), DCOLL_DATA, 0);
    }
    board_end(shape, args, rank, s);
    flat_complete(s);
    for (unsigned d = 1; d < n; d++)
        grant_close(s, grant, flat_before(n, rank, d), (d - 1) % k);
}

const dcoll_algorithm_t allgather_direct = {
    .name = "direct",
    .collective = DCOLL_ALLGATHER,
    .summary = "own block to every rank (seed 000, 5.1.2)",
    .memory = "TEMP: N blocks; zero copy: none",
    .generate = generate,
};

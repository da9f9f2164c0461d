/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct all-gather: in step i = 1 … ⌈(N-1)/k⌉ rank p puts its block to ranks
 * p + (i-1)k + 1 … p + ik, one a port (seed 000, section 5.1.2, eq. 2). The
 * ports keep the steps apart: unless it is paced, all puts are posted at once.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/pace.h"

/* My block to the ranks at distances from … end - 1. */
static void put(const dcoll_shape_t *shape, const dcoll_args_t *args,
                unsigned rank, unsigned from, unsigned end, grant_t grant,
                dcoll_schedule_t *s)
{
    const dcoll_place_t place = board_at(args, rank);
    for (unsigned d = from; d < end; d++) {
        const unsigned target = flat_after(shape->nranks, rank, d);
        s->step = (uint16_t)((d - 1) / shape->ports);
        pace(s, args);
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
    if (!args->zero_copy || n == 1)
        board_begin(shape, args, rank, s);
    for (unsigned from = 1, end; from < n; from = end) {
        end = pace_end(args, k, from, n);
        put(shape, args, rank, from, end, grant, s);
        if (args->zero_copy && from == 1)
            board_begin(shape, args, rank, s);
        for (unsigned d = from; d < end; d++) {
            s->step = (uint16_t)((d - 1) / k);
            dcoll_add_wait(s, flat_before(n, rank, d), DCOLL_DATA, 0);
        }
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

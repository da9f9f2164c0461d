/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct all-gather: in step i = 1 … ⌈(N-1)/k⌉ rank p puts its block to ranks
 * p + (i-1)k + 1 … p + ik, one a port (Qian and Afsahi 2008, section 5.1.2, eq.
 * 2).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/direct.h"
#include "coll/build/flat.h"

static void put(const struct direct *x, unsigned target, unsigned port)
{
    const dcoll_place_t place = board_at(x->args, x->rank);
    dcoll_add_put(x->s, target, port,
                  x->args->zero_copy ? board_source(x->args, x->rank) : place,
                  place, dcoll_block_bytes(x->args, x->rank));
}

static void begin(const struct direct *x)
{
    board_begin(x->shape, x->args, x->rank, x->s);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct direct x = {
        .shape = shape,
        .args = args,
        .rank = rank,
        .s = s,
        .grant = grant_among_all(args, board_space(args)),
        .put = put,
        .meanwhile = args->zero_copy ? begin : NULL,
    };
    s->phase = 1;
    direct_open(&x);
    if (!args->zero_copy)
        begin(&x);
    direct_exchange(&x);
    board_end(shape, args, rank, s);
    flat_complete(s);
    direct_close(&x);
}

const dcoll_algorithm_t allgather_direct = {
    .name = "direct",
    .collective = DCOLL_ALLGATHER,
    .summary = "own block to every rank (Qian and Afsahi 2008, 5.1.2)",
    .memory = "TEMP: N blocks; zero copy: none",
    .unequal = true,
    .generate = generate,
};

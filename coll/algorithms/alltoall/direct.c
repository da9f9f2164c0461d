/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct all-to-all: the grouping of the direct all-gather, with another block
 * for each destination (Qian and Afsahi 2008, section 5.1.3, eq. 2).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/direct.h"
#include "coll/build/flat.h"
#include "coll/build/exchange/personal.h"

static void put(const struct direct *x, unsigned target, unsigned port)
{
    personal_put(x->shape, x->args, x->rank, target, port, x->s);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct direct x = {
        .shape = shape,
        .args = args,
        .rank = rank,
        .s = s,
        .grant = personal_grant(args),
        .put = put,
    };
    s->phase = 1;
    direct_open(&x);
    personal_begin(shape, args, rank, s);
    direct_exchange(&x);
    personal_end(shape, args, rank, s);
    flat_complete(s);
    direct_close(&x);
}

const dcoll_algorithm_t alltoall_direct = {
    .name = "direct",
    .collective = DCOLL_ALLTOALL,
    .summary = "each block to its destination (Qian and Afsahi 2008, 5.1.3)",
    .memory = "TEMP: 2N blocks; zero copy and not in place: none",
    .generate = generate,
};

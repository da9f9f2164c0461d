/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank puts its operand of a block to that block's rank, which combines
 * all operands in the order of ranks. TEMP: the operands, in the order of
 * ranks; then, without zero copy, a copy of SEND.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/direct.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/combine.h"

static dcoll_place_t operand(const struct direct *x, unsigned rank)
{
    return dcoll_at(DCOLL_TEMP, rank * combine_stride(x->args->bytes));
}

static dcoll_place_t source(const struct direct *x)
{
    return x->args->zero_copy ? dcoll_at(DCOLL_SEND, 0)
                              : operand(x, x->shape->nranks);
}

static void put(const struct direct *x, unsigned target, unsigned port)
{
    const size_t bytes = x->args->bytes;
    dcoll_add_put(x->s, target, port, combine_at(source(x), target * bytes),
                  operand(x, x->rank), bytes);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    const dcoll_place_t send = dcoll_at(DCOLL_SEND, 0);
    const struct direct x = {.shape = shape,
                             .args = args,
                             .rank = rank,
                             .s = s,
                             .grant = grant_among_all(args, DCOLL_TEMP),
                             .put = put};
    const struct operands all = {.count = n,
                                 .own = rank,
                                 .row = operand(&x, 0),
                                 .stride = combine_stride(args->bytes),
                                 .mine = combine_at(send, rank * args->bytes),
                                 .spare = operand(&x, rank)};
    s->phase = 1;
    s->temp_bytes =
        operand(&x, n).offset + (args->zero_copy ? 0 : n * args->bytes);
    if (!args->zero_copy)
        flat_copy_others(s, send, source(&x), n, rank, args->bytes);
    direct_exchange(&x);
    flat_complete(s); /* in place, the result overwrites block 0 of SEND */
    combine_in_order(s, args, &all, dcoll_at(DCOLL_RECV, 0), args->bytes);
    direct_close(&x);
}

const dcoll_algorithm_t reduce_scatter_block_direct = {
    .name = "direct",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "each operand to the rank of its block (Qian and Afsahi 2008, "
               "5.1.2)",
    .memory = "TEMP: 2N blocks; zero copy: N",
    .generate = generate,
};

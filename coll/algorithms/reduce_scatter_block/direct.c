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

/* The operand from a rank in the TEMP of the block's owner. */
static dcoll_place_t operand(const struct direct *x, unsigned owner,
                             unsigned from)
{
    const size_t bytes = dcoll_block_bytes(x->args, owner);
    return dcoll_at(DCOLL_TEMP, from * combine_stride(bytes));
}

static dcoll_place_t source(const struct direct *x)
{
    return x->args->zero_copy ? dcoll_at(DCOLL_SEND, 0)
                              : operand(x, x->rank, x->shape->nranks);
}

static void put(const struct direct *x, unsigned target, unsigned port)
{
    dcoll_add_put(x->s, target, port,
                  combine_at(source(x), dcoll_block_begin(x->args, target)),
                  operand(x, target, x->rank),
                  dcoll_block_bytes(x->args, target));
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
    s->phase = 1;
    s->temp_bytes = operand(&x, rank, n).offset +
                    (args->zero_copy ? 0 : dcoll_block_begin(args, n));
    if (!args->zero_copy)
        flat_copy_other_blocks(s, send, source(&x), args, n, rank);
    direct_exchange(&x);
    flat_complete(s); /* in place, the result overwrites block 0 of SEND */
    combine_own_block(s, args, n, rank, operand(&x, rank, 0));
    direct_close(&x);
}

const dcoll_algorithm_t reduce_scatter_block_direct = {
    .name = "direct",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "each operand to the rank of its block (Qian and Afsahi 2008, "
               "5.1.2)",
    .memory = "TEMP: 2N blocks; zero copy: N",
    .unequal = true,
    .generate = generate,
};

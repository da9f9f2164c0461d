/* SPDX-License-Identifier: BSD-3-Clause */
/* Bruck's all-gather in the opposite order, for operations that commute
 * (build/reduce/cyclic_reduce.h). TEMP: the vector, then what arrives. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/cyclic_reduce.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const size_t all = shape->nranks * args->bytes;
    const struct cyclic_reduce r = {
        .ring = {.args = args,
                 .s = s,
                 .ports = shape->ports,
                 .me = rank,
                 .slices = slices_of_blocks(args, shape->nranks),
                 .rotated = true,
                 .vector = dcoll_at(DCOLL_TEMP, 0)},
        .user = dcoll_at(DCOLL_SEND, 0),
        .direct = args->zero_copy,
        .temp = combine_stride(all),
        .grant = grant_among_all(args, DCOLL_TEMP),
        .result = dcoll_at(DCOLL_RECV, 0)};
    s->phase = 1;
    s->temp_bytes = r.temp + cyclic_reduce_bytes(&r);
    cyclic_reduce(&r);
    cyclic_reduce_close(&r);
}

const dcoll_algorithm_t reduce_scatter_block_bruck = {
    .name = "bruck",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "k-port Bruck reversed, for operations that commute",
    .memory = "TEMP: 2N blocks",
    .refuses = cyclic_reduce_refuses,
    .generate = generate,
};

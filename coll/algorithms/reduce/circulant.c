/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduce of long blocks in pieces over all ranks
 * (build/reduce/circulant_reduce.h). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/circulant_reduce.h"
#include "coll/build/reduce/cyclic_reduce.h"

static unsigned rank_of(const struct circulant_bcast *b, unsigned member)
{
    return flat_after(b->shape->nranks, member, b->args->root);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct circulant_reduce r = {
        .reversed = {.shape = shape,
                     .args = args,
                     .s = s,
                     .rank_of = rank_of,
                     .me = flat_before(shape->nranks, rank, args->root)},
        .user = dcoll_at(DCOLL_SEND, 0),
        .direct = args->zero_copy};
    s->phase = 1;
    circulant_bcast_plan(&r.reversed, shape->nranks);
    circulant_reduce(&r);
}

const dcoll_algorithm_t reduce_circulant = {
    .name = "circulant",
    .collective = DCOLL_REDUCE,
    .summary = "n pieces on a circulant graph, striped over ports (Träff 2025)",
    .memory = "TEMP: 2 blocks and ⌈log₂ N⌉ pieces; zero copy: 1 block fewer",
    .refuses = cyclic_reduce_refuses,
    .generate = generate,
};

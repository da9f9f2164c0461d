/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank receives one slice of all blocks, combines it, and puts the result
 * to all ranks: two direct exchanges, 2 ⌈(N-1)/k⌉ steps, the fewest bytes for
 * any N. A rank that has all results knows that all ranks have read what was
 * put to them: only puts into RECV need a grant.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/slice_owners.h"

static void put_result(const struct direct *x, unsigned target, unsigned port)
{
    const struct owners o =
        owners_of(x->shape, x->args, x->rank, x->grant, x->s);
    const dcoll_place_t slice = owners_slice(&o, x->rank);
    dcoll_add_put(x->s, target, port, slice, slice,
                  owners_slice_bytes(&o, x->rank));
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct owners o = owners_of(shape, args, rank, GRANT_IMPLIED, s);
    const struct direct results = {.shape = shape,
                                   .args = args,
                                   .rank = rank,
                                   .s = s,
                                   .grant = args->zero_copy ? GRANT_READY
                                                            : GRANT_IMPLIED,
                                   .first_step = direct_steps(shape),
                                   .put = put_result};
    s->phase = 1;
    s->temp_bytes = owners_bytes(&o);
    direct_open(&results);
    owners_combine(&o, owners_slice(&o, rank));
    s->phase = 2;
    direct_exchange(&results);
    if (!args->zero_copy)
        dcoll_add_copy(s, owners_slice(&o, 0), dcoll_at(DCOLL_RECV, 0),
                       args->bytes);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_direct = {
    .name = "direct",
    .collective = DCOLL_ALLREDUCE,
    .summary = "each combines a slice, and puts it to all",
    .memory = "TEMP: 2 blocks; zero copy: 1",
    .generate = generate,
};

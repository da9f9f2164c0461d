/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank gets one slice of all blocks, combines it, and puts the result to
 * the root: two direct exchanges, 2 ⌈(N-1)/k⌉ steps.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/owners.h"

/* The root takes k slices a step, one a port. */
static void bring(const struct owners *o, unsigned distance)
{
    const struct direct *x = &o->exchange;
    const unsigned n = x->shape->nranks, root = x->args->root;
    const unsigned owner = flat_before(n, root, distance);
    const unsigned port = (distance - 1) % x->shape->ports;
    x->s->step =
        (uint16_t)(direct_steps(x->shape) + (distance - 1) / x->shape->ports);
    if (x->rank == root)
        dcoll_add_wait(x->s, owner, DCOLL_DATA, 0);
    else if (x->rank == owner)
        dcoll_add_put(x->s, root, port, owners_mine(o),
                      owners_slice(o, x->rank), owners_slice_bytes(o, x->rank));
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const grant_t grant = grant_among_all(args, board_space(args));
    const struct owners o = owners_of(shape, args, rank, grant, s);
    s->phase = 1;
    if (shape->nranks == 1) {
        combine_keep_own(s, args);
        return;
    }
    owners_open(&o);
    owners_combine(&o, rank == args->root ? owners_slice(&o, rank)
                                          : owners_mine(&o));
    s->phase = 2;
    for (unsigned d = 1; d < shape->nranks; d++)
        bring(&o, d);
    if (rank == args->root && !args->zero_copy)
        dcoll_add_copy(s, owners_slice(&o, 0), dcoll_at(DCOLL_RECV, 0),
                       args->bytes);
    flat_complete(s);
    owners_close(&o);
}

const dcoll_algorithm_t reduce_direct = {
    .name = "direct",
    .collective = DCOLL_REDUCE,
    .summary = "each combines a slice, and puts it to the root",
    .memory = "TEMP: 2 blocks; zero copy: 1",
    .generate = generate,
};

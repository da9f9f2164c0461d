/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank gets one slice of all blocks, combines it, and puts the result to
 * the root: two direct exchanges, 2 ⌈(N-1)/k⌉ steps.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/slice_owners.h"

/* The root receives k slices in a step, one per port: the step of a rank's
 * slice. */
struct turn {
    unsigned owner, port, step;
};

static struct turn turn_of(const struct direct *x, unsigned distance)
{
    const unsigned n = x->shape->nranks, k = x->shape->ports;
    return (struct turn){.owner = flat_before(n, x->args->root, distance),
                         .port = (distance - 1) % k,
                         .step = direct_steps(x->shape) + (distance - 1) / k};
}

/* A grant is needed only for puts into RECV (zero copy), as the root waits for
 * all. */
static grant_t grant_of(const dcoll_args_t *args)
{
    return args->zero_copy ? GRANT_READY : GRANT_IMPLIED;
}

static void open_root(const struct direct *x)
{
    for (unsigned d = 1; d < x->shape->nranks; d++) {
        const struct turn turn = turn_of(x, d);
        grant_open(x->s, grant_of(x->args), x->args, turn.owner, turn.port);
    }
}

static void bring(const struct owners *o)
{
    const struct direct *x = &o->exchange;
    const unsigned n = x->shape->nranks, root = x->args->root;
    const struct turn turn = turn_of(x, (root + n - x->rank) % n);
    x->s->step = (uint16_t)turn.step;
    grant_take(x->s, grant_of(x->args), x->args, root);
    dcoll_add_put(x->s, root, turn.port, owners_mine(o),
                  owners_slice(o, x->rank), owners_slice_bytes(o, x->rank));
}

static void take(const struct direct *x)
{
    for (unsigned d = 1; d < x->shape->nranks; d++) {
        const struct turn turn = turn_of(x, d);
        x->s->step = (uint16_t)turn.step;
        dcoll_add_wait(x->s, turn.owner, DCOLL_DATA, 0);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const grant_t grant = grant_among_all(args, DCOLL_TEMP);
    const struct owners o = owners_of(shape, args, rank, grant, s);
    const bool root = rank == args->root;
    s->phase = 1;
    s->temp_bytes = owners_bytes(&o);
    owners_open(&o);
    if (root)
        open_root(&o.exchange);
    owners_combine(&o, root ? owners_slice(&o, rank) : owners_mine(&o));
    s->phase = 2;
    if (root)
        take(&o.exchange);
    else
        bring(&o);
    if (root && !args->zero_copy)
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

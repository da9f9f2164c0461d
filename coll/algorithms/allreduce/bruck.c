/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter and all-gather of slices, both by the steps of Bruck's
 * all-gather, for operations that commute: 2 ⌈log_{k+1} N⌉ steps and
 * 2 (N-1)/(Nk) blocks for any N.
 *
 * Only puts into RECV need a grant. A rank that has the result knows that all
 * ranks have read what was put into their TEMP. In the second half a rank puts
 * only to ranks that have put to it in the first half: these have begun the
 * same start.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/reduce/cyclic_reduce.h"

/* Copies the vector, which begins with my slice, to RECV. */
static void copy_out(const struct cyclic *c)
{
    struct cyclic_part parts[2];
    const unsigned n = cyclic_parts(c, c->me, c->slices.count, parts);
    for (unsigned i = 0; i < n; i++)
        dcoll_add_copy(c->s, combine_at(c->vector, parts[i].before),
                       dcoll_at(DCOLL_RECV, parts[i].begin), parts[i].bytes);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const bool direct = args->zero_copy;
    const dcoll_place_t vector = dcoll_at(board_space(args), 0);
    struct cyclic_reduce r = {
        .ring = {.args = args,
                 .s = s,
                 .ports = shape->ports,
                 .me = rank,
                 .slices = slices_of(args, shape->nranks),
                 .rotated = !direct,
                 .vector = vector,
                 .there = vector,
                 .grant = direct ? GRANT_READY : GRANT_IMPLIED},
        .user = combine_user(args),
        .direct = direct,
        .temp = direct ? 0 : combine_stride(args->bytes),
        .grant = GRANT_IMPLIED};
    r.result = direct ? combine_at(vector, slices_begin(&r.ring.slices, rank))
                      : vector;
    s->phase = 1;
    s->temp_bytes = r.temp + cyclic_reduce_bytes(&r);
    cyclic_open(&r.ring);
    cyclic_reduce(&r);
    s->phase = 2;
    cyclic_allgather(&r.ring);
    if (!direct)
        copy_out(&r.ring);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_bruck = {
    .name = "bruck",
    .collective = DCOLL_ALLREDUCE,
    .summary = "k-port Bruck reversed, then Bruck, of slices, for operations "
               "that commute",
    .memory = "TEMP: 2 blocks; zero copy: 1",
    .refuses = cyclic_reduce_refuses,
    .generate = generate,
};

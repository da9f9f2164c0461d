/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck all-gather for k ports, any N (Qian and Afsahi 2008, section 5.1.2).
 * Rank p keeps block p + j at place j of TEMP. In each step
 * (build/exchange/bruck.h) it receives the blocks that follow. Finally it
 * shifts all blocks into RECV.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/pace.h"

static void exchange(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, struct bruck_step step, grant_t grant,
                     dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks, k = shape->ports;
    unsigned d, count;
    for (unsigned p = 0; p < k && bruck_message(step, p, &d, &count); p++) {
        const unsigned target = flat_before(n, rank, d);
        pace(s, args);
        grant_take(s, grant, args, target);
        dcoll_add_put(s, target, p, dcoll_at(DCOLL_TEMP, 0),
                      dcoll_at(DCOLL_TEMP, d * args->bytes),
                      count * args->bytes);
    }
    for (unsigned p = 0; p < k && bruck_message(step, p, &d, &count); p++)
        dcoll_add_wait(s, flat_after(n, rank, d), DCOLL_DATA, 0);
}

/* Copies to absolute order; in place, the own block is there already. */
static void shift(unsigned n, unsigned rank, const dcoll_args_t *args,
                  dcoll_schedule_t *s)
{
    const size_t bytes = args->bytes;
    const unsigned first = args->in_place ? 1 : 0;
    dcoll_add_copy(s, dcoll_at(DCOLL_TEMP, first * bytes),
                   dcoll_at(DCOLL_RECV, (rank + first) * bytes),
                   (n - rank - first) * bytes);
    dcoll_add_copy(s, dcoll_at(DCOLL_TEMP, (n - rank) * bytes),
                   dcoll_at(DCOLL_RECV, 0), rank * bytes);
}

static void close_all(const dcoll_shape_t *shape, const dcoll_args_t *args,
                      unsigned rank, grant_t grant, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks, k = shape->ports;
    unsigned d, count;
    for (unsigned have = 1; have < n;) {
        const struct bruck_step step = bruck_step_from(n, k, have);
        for (unsigned p = 0; p < k && bruck_message(step, p, &d, &count); p++)
            grant_close(s, grant, args, flat_after(n, rank, d), p);
        have = step.end;
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    const grant_t grant = grant_among_all(args, DCOLL_TEMP);
    s->phase = 1;
    s->temp_bytes = n * args->bytes;
    if (n > 1 || !args->in_place)
        dcoll_add_copy(s, board_source(args, rank), dcoll_at(DCOLL_TEMP, 0),
                       args->bytes);
    for (unsigned have = 1; have < n; s->step++) {
        const struct bruck_step step = bruck_step_from(n, shape->ports, have);
        exchange(shape, args, rank, step, grant, s);
        have = step.end;
    }
    s->phase = 2;
    shift(n, rank, args, s);
    flat_complete(s);
    close_all(shape, args, rank, grant, s);
}

const dcoll_algorithm_t allgather_bruck = {
    .name = "bruck",
    .collective = DCOLL_ALLGATHER,
    .summary = "k-port Bruck, last step partial, local shift (Qian and Afsahi "
               "2008, 5.1.2)",
    .memory = "TEMP: N blocks",
    .generate = generate,
};

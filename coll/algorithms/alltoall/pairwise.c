/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairwise exchange all-to-all, single-port: N-1 steps, in each with one
 * partner to send to and one to receive from, the same for N a power of two
 * (Qian and Afsahi 2008, section 3.1: elan_alltoall up to 8 KB). The next step
 * starts when the partner's block has come.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/exchange/personal.h"

static bool paired(unsigned n)
{
    return (n & (n - 1)) == 0;
}

static unsigned target_of(unsigned n, unsigned rank, unsigned step)
{
    return paired(n) ? rank ^ step : flat_after(n, rank, step);
}

static unsigned source_of(unsigned n, unsigned rank, unsigned step)
{
    return paired(n) ? rank ^ step : flat_before(n, rank, step);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    const grant_t grant = personal_grant(args);
    s->phase = 1;
    for (unsigned i = 1; i < n; i++)
        grant_open(s, grant, args, source_of(n, rank, i), 0);
    personal_begin(shape, args, rank, s);
    for (unsigned i = 1; i < n; i++) {
        s->step = (uint16_t)(i - 1);
        grant_take(s, grant, args, target_of(n, rank, i));
        personal_put(shape, args, rank, target_of(n, rank, i), 0, s);
        dcoll_add_wait(s, source_of(n, rank, i), DCOLL_DATA, 0);
    }
    personal_end(shape, args, rank, s);
    flat_complete(s);
    for (unsigned i = 1; i < n; i++)
        grant_close(s, grant, args, source_of(n, rank, i), 0);
}

const dcoll_algorithm_t alltoall_pairwise = {
    .name = "pairwise",
    .collective = DCOLL_ALLTOALL,
    .summary = "single-port pairwise exchange (Qian and Afsahi 2008, 3.1)",
    .memory = "TEMP: 2N blocks; zero copy and not in place: none",
    .generate = generate,
};

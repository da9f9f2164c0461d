/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct all-to-all: the grouping of the direct all-gather, with another block
 * for each destination (seed 000, section 5.1.3, eq. 2). The ports keep the
 * steps apart: unless it is paced, all puts are posted at once.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/pace.h"
#include "coll/build/personal.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks, k = shape->ports;
    const grant_t grant = personal_grant(args);
    s->phase = 1;
    for (unsigned d = 1; d < n; d++)
        grant_open(s, grant, flat_before(n, rank, d), (d - 1) % k);
    personal_begin(shape, args, rank, s);
    for (unsigned from = 1, end; from < n; from = end) {
        end = pace_end(args, k, from, n);
        for (unsigned d = from; d < end; d++) {
            const unsigned target = flat_after(n, rank, d);
            s->step = (uint16_t)((d - 1) / k);
            pace(s, args);
            grant_take(s, grant, args, target);
            personal_put(shape, args, rank, target, (d - 1) % k, s);
        }
        for (unsigned d = from; d < end; d++) {
            s->step = (uint16_t)((d - 1) / k);
            dcoll_add_wait(s, flat_before(n, rank, d), DCOLL_DATA, 0);
        }
    }
    personal_end(shape, args, rank, s);
    flat_complete(s);
    for (unsigned d = 1; d < n; d++)
        grant_close(s, grant, flat_before(n, rank, d), (d - 1) % k);
}

const dcoll_algorithm_t alltoall_direct = {
    .name = "direct",
    .collective = DCOLL_ALLTOALL,
    .summary = "each block to its destination (seed 000, 5.1.3)",
    .memory = "TEMP: 2N blocks; zero copy and not in place: none",
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Permission-to-send all-to-all, single-port: a rank permits the next source to
 * send when the block of the last one has arrived; so no rank is the target of
 * two transfers at a time (Qian and Afsahi 2008, section 3.1: elan_alltoall
 * above 8 KB). The permission also makes it safe to overwrite TEMP.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/exchange/personal.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    s->phase = 1;
    personal_begin(shape, args, rank, s);
    for (unsigned i = 1; i < n; i++) {
        const unsigned target = flat_after(n, rank, i);
        const unsigned source = flat_before(n, rank, i);
        s->step = (uint16_t)(i - 1);
        grant_open(s, GRANT_READY, args, source, 0);
        grant_take(s, GRANT_READY, args, target);
        personal_put(shape, args, rank, target, 0, s);
        dcoll_add_wait(s, source, DCOLL_DATA, 0);
    }
    personal_end(shape, args, rank, s);
    flat_complete(s);
}

const dcoll_algorithm_t alltoall_permission = {
    .name = "permission",
    .collective = DCOLL_ALLTOALL,
    .summary = "single-port permission-to-send (Qian and Afsahi 2008, 3.1)",
    .memory = "TEMP: 2N blocks; zero copy and not in place: none",
    .generate = generate,
};

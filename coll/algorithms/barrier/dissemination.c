/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dissemination barrier for k ports: in round i, of ⌈log_{k+1} N⌉, a rank
 * notifies those at distances (k+1)^i, 2(k+1)^i … k(k+1)^i and waits for those
 * as far before it.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks, radix = shape->ports + 1;
    (void)args;
    s->phase = 1;
    for (unsigned w = 1; w < n; w *= radix, s->step++) {
        for (unsigned d = 1; d < radix && d * w < n; d++)
            dcoll_add_notify(s, flat_after(n, rank, d * w), DCOLL_DATA);
        for (unsigned d = 1; d < radix && d * w < n; d++)
            dcoll_add_wait(s, flat_before(n, rank, d * w), DCOLL_DATA, 0);
    }
}

const dcoll_algorithm_t barrier_dissemination = {
    .name = "dissemination",
    .collective = DCOLL_BARRIER,
    .summary = "k-port dissemination",
    .memory = "none",
    .generate = generate,
};

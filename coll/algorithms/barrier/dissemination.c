/* SPDX-License-Identifier: BSD-3-Clause */
/* Dissemination barrier for k ports, ⌈log_{k+1} N⌉ steps. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/disseminate.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    (void)args;
    s->phase = 1;
    disseminate(s, NULL, shape->nranks, rank, shape->ports, DCOLL_DATA);
}

const dcoll_algorithm_t barrier_dissemination = {
    .name = "dissemination",
    .collective = DCOLL_BARRIER,
    .summary = "k-port dissemination",
    .memory = "none",
    .generate = generate,
};

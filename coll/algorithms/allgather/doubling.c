/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive doubling, single-port (exchange_allgather.h): a reference for the
 * k-port exchange. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/exchange_allgather.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    fold_allgather(shape, args, rank, 1, out);
}

const dcoll_algorithm_t allgather_doubling = {
    .name = "doubling",
    .collective = DCOLL_ALLGATHER,
    .summary = "single-port recursive doubling, with correction steps",
    .memory = "TEMP: N blocks; zero copy: none",
    .generate = generate,
};

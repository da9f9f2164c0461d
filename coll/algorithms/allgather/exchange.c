/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard exchange all-gather for k ports (exchange_allgather.h); costs eq.
 * (3) of Qian and Afsahi 2008 for N a power of k+1. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/exchange_allgather.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    fold_allgather(shape, args, rank, shape->ports, out);
}

const dcoll_algorithm_t allgather_exchange = {
    .name = "exchange",
    .collective = DCOLL_ALLGATHER,
    .summary = "k-port recursive doubling, with correction steps (Qian and "
               "Afsahi 2008, 5.1.2)",
    .memory = "TEMP: N blocks; zero copy: none",
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck all-to-all to a base r that depends on the size of blocks (Fan et al.
 * 2024, arXiv 2411.02581, for k = 1): k+1 for short blocks, N for long ones,
 * which then go straight to their ranks.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck_alltoall.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    bruck_alltoall(shape, args, rank, bruck_alltoall_radix(shape, args->bytes),
                   s);
}

const dcoll_algorithm_t alltoall_radix = {
    .name = "radix",
    .collective = DCOLL_ALLTOALL,
    .summary = "k-port Bruck to a base that depends on the size (Fan et al. "
               "2024)",
    .memory = "TEMP: N + N*(r-1)/r*ceil(log_r N) blocks for base r, 2N - 1 for "
              "long ones",
    .generate = generate,
};

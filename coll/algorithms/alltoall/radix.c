/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck all-to-all to a base r that depends on the size of blocks (Fan et al.
 * 2024, arXiv 2411.02581, for k = 1): k+1 for short blocks, N for long ones,
 * which then go straight to their ranks.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck_alltoall.h"
#include "coll/build/flat.h"

/* The smallest base, of at least k+1, to which n - 1 has so many digits. */
static unsigned base_for(unsigned n, unsigned k, unsigned count)
{
    unsigned base = k + 1;
    while (flat_steps(n, base - 1) > count)
        base++;
    return base;
}

static double toll_of(const dcoll_shape_t *shape, size_t bytes, unsigned radix)
{
    const struct bruck_toll toll =
        bruck_alltoall_toll(shape->nranks, shape->ports, radix);
    return toll.steps * FLAT_STEP_BYTES + toll.blocks * (double)bytes;
}

/* Of bases with as many digits, the smallest one takes the fewest steps. */
static unsigned radix_for(const dcoll_shape_t *shape, size_t bytes)
{
    const unsigned n = shape->nranks, k = shape->ports;
    unsigned best = k + 1;
    for (unsigned count = 1;; count++) {
        const unsigned radix = base_for(n, k, count);
        if (toll_of(shape, bytes, radix) < toll_of(shape, bytes, best))
            best = radix;
        if (radix == k + 1)
            return best;
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    bruck_alltoall(shape, args, rank, radix_for(shape, args->bytes), s);
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

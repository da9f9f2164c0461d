/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in tests: the blocks that ranks give, and reductions of bytes. */
#ifndef TESTS_COLLECTIVES_H
#define TESTS_COLLECTIVES_H

#include "coll/schedule.h"
#include "tests/unit/affine.h"

/* Does a rank give each rank a block of its own? Else it gives all the same. */
static inline bool gives_each(dcoll_collective_t collective)
{
    return collective == DCOLL_ALLTOALL || collective == DCOLL_SCATTER ||
           collective == DCOLL_REDUCE_SCATTER_BLOCK;
}

static inline const dcoll_reduction_t *byte_reduction(bool commutes)
{
    return commutes ? dcoll_reduction(DCOLL_UINT8, DCOLL_SUM)
                    : &affine_reduction;
}

/* For dcoll_call_t.reduction: the operation commutes only if the algorithm
 * needs that. NULL: the collective is no reduction. */
static inline const dcoll_reduction_t *
reduction_for(const dcoll_algorithm_t *algorithm, const dcoll_shape_t *shape)
{
    const dcoll_args_t args = {.collective = algorithm->collective};
    return dcoll_collective_reduces(args.collective)
               ? byte_reduction(dcoll_needs_commuting(algorithm, shape, &args))
               : NULL;
}

/* The result of a rank combines the operands of ranks 0 … this number - 1. */
static inline unsigned operands_of(dcoll_collective_t collective, unsigned rank,
                                   unsigned nranks)
{
    return collective == DCOLL_SCAN     ? rank + 1
           : collective == DCOLL_EXSCAN ? rank
                                        : nranks;
}

static inline unsigned char combined(const dcoll_reduction_t *by,
                                     unsigned char left, unsigned char right)
{
    unsigned char result;
    by->combine(by->context, &left, &right, &result, 1);
    return result;
}

#endif

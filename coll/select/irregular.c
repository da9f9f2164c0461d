/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm for which traffic. */
#include "coll/algorithms/algorithms.h"
#include "coll/select/irregular.h"

const dcoll_algorithm_t *irregular_select(const dcoll_shape_t *shape,
                                          const dcoll_args_t *args,
                                          bool expected)
{
    if (!alltoallv_shm.refuses(shape, args))
        return &alltoallv_shm;
    if (!args->traffic->max_rank)
        return NULL;
    return expected && args->traffic->labelled ? &alltoallv_direct
                                               : &alltoallv_a1_n1;
}

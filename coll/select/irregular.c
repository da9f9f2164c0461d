/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm for which traffic. */
#include "coll/algorithms/algorithms.h"
#include "coll/select/irregular.h"

/* Between nodes, messages of which a rank's part has fewer bytes cost more than
 * the copies on nodes that save them. */
#define PART_BYTES ((size_t)64 << 10)

/* In the mean, of the rank that sends or receives the most. */
static bool has_short_parts(const dcoll_shape_t *shape,
                            const dcoll_traffic_t *traffic)
{
    return traffic->max_rank / shape->nranks * traffic->element < PART_BYTES;
}

const dcoll_algorithm_t *irregular_select(const dcoll_shape_t *shape,
                                          const dcoll_args_t *args,
                                          bool expected)
{
    if (!alltoallv_shm.refuses(shape, args))
        return &alltoallv_shm;
    if (!args->traffic->max_rank)
        return NULL;
    if (!alltoallv_smp.refuses(shape, args) &&
        has_short_parts(shape, args->traffic))
        return &alltoallv_smp;
    return expected && args->traffic->labelled ? &alltoallv_direct
                                               : &alltoallv_a1_n1;
}

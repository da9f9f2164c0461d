/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/algorithms/algorithms.h"
#include "coll/select/irregular.h"

/* Between nodes, messages with shorter parts of a rank cost more than the
 * copies within nodes that save these messages. The limit is higher between
 * hosts than between nodes that share a host and its memory. */
#define PART_BYTES_SPREAD (64 << 10)
#define PART_BYTES_SHARED (32 << 10)

/* The mean part of the rank that sends or receives most; it may be less than an
 * element. */
static bool has_short_parts(const dcoll_shape_t *shape,
                            const dcoll_traffic_t *traffic, bool spread)
{
    double bytes = (double)traffic->max_rank * (double)traffic->element;
    return bytes / shape->nranks <
           (spread ? PART_BYTES_SPREAD : PART_BYTES_SHARED);
}

/* In A1 each message has room for the largest part of any pair of ranks. If few
 * parts are that large, a rank needs much more memory than it has elements:
 * beyond these limits A2 is used, whose slices have equal length. */
#define SKEW        4.0
#define ROOMS_BYTES (16.0 * (1 << 20))

static bool is_skewed(const dcoll_shape_t *shape,
                      const dcoll_traffic_t *traffic)
{
    double rooms = (double)shape->nranks * (double)traffic->max_pair;
    return rooms > SKEW * (double)traffic->max_rank &&
           rooms * (double)traffic->element > ROOMS_BYTES;
}

const dcoll_algorithm_t *irregular_select(const dcoll_shape_t *shape,
                                          const dcoll_args_t *args, bool spread,
                                          bool expected)
{
    if (!alltoallv_shm.refuses(shape, args))
        return &alltoallv_shm;
    if (!args->traffic->max_rank)
        return NULL;
    if (!alltoallv_smp.refuses(shape, args) &&
        has_short_parts(shape, args->traffic, spread))
        return &alltoallv_smp;
    if (expected && args->traffic->labelled)
        return &alltoallv_direct;
    return is_skewed(shape, args->traffic) ? &alltoallv_a2_n1
                                           : &alltoallv_a1_n1;
}

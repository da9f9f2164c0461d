/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm for which traffic. */
#include "coll/algorithms/algorithms.h"
#include "coll/select/irregular.h"

/* Between nodes, messages of which a rank's part has fewer bytes cost more than
 * the copies on nodes that save them: longer ones where they go to other hosts
 * than where nodes share a host, and its memory. */
#define PART_BYTES_SPREAD (64 << 10)
#define PART_BYTES_SHARED (32 << 10)

/* In the mean, of the rank that sends or receives the most: it may be less than
 * an element. */
static bool has_short_parts(const dcoll_shape_t *shape,
                            const dcoll_traffic_t *traffic, bool spread)
{
    double bytes = (double)traffic->max_rank * (double)traffic->element;
    return bytes / shape->nranks <
           (spread ? PART_BYTES_SPREAD : PART_BYTES_SHARED);
}

/* A message of A1 has room for the largest part that one rank has for another,
 * and so have all of them. Where few parts are so large, a rank needs much more
 * memory than it has elements: from here on, slices of an even length take
 * their way. */
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

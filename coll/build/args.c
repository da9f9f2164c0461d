/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes of buffers, and the depth, that arguments imply. */
#include "coll/schedule.h"

/* Most memory for blocks of starts that ranks run ahead. */
#define DEPTH_BYTES (512u << 10)

unsigned dcoll_send_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank)
{
    switch (args->collective) {
    case DCOLL_GATHER:
    case DCOLL_REDUCE:
        return 1;
    case DCOLL_ALLGATHER:
    case DCOLL_ALLREDUCE:
        return args->in_place ? 0 : 1;
    case DCOLL_ALLTOALL:
        return args->in_place ? 0 : nranks;
    case DCOLL_BCAST:
        return rank == args->root ? 1 : 0;
    case DCOLL_SCATTER:
        return rank == args->root ? nranks : 0;
    default:
        return 0;
    }
}

unsigned dcoll_recv_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank)
{
    switch (args->collective) {
    case DCOLL_GATHER:
        return rank == args->root ? nranks : 0;
    case DCOLL_ALLGATHER:
    case DCOLL_ALLTOALL:
        return nranks;
    case DCOLL_BCAST:
        return rank == args->root ? 0 : 1;
    case DCOLL_SCATTER:
    case DCOLL_ALLREDUCE:
        return 1;
    case DCOLL_REDUCE:
        return rank == args->root ? 1 : 0;
    default:
        return 0;
    }
}

bool dcoll_all_in_place(const dcoll_args_t *args)
{
    return args->in_place && (args->collective == DCOLL_ALLGATHER ||
                              args->collective == DCOLL_ALLTOALL ||
                              args->collective == DCOLL_ALLREDUCE);
}

unsigned dcoll_depth(const dcoll_algorithm_t *algorithm,
                     const dcoll_shape_t *shape, size_t bytes, unsigned depth)
{
    if (algorithm->depth)
        return algorithm->depth;
    /* each block has a flag, in a cache line */
    size_t block = bytes < DCOLL_CACHE_LINE ? DCOLL_CACHE_LINE : bytes;
    if (depth > 1)
        while (depth < algorithm->ahead &&
               2 * depth * block <= DEPTH_BYTES / shape->nranks)
            depth *= 2;
    return depth;
}

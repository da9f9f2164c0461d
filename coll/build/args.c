/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes of buffers, and the depth, that arguments imply. */
#include "coll/schedule.h"

/* Most memory for blocks of starts that ranks run ahead. */
#define DEPTH_BYTES (512u << 10)
/* NODE of one start from which it pays to have it once. Measured with 8 ranks
 * and a cache of 32 MiB: all-gather 1.25 times, all-to-all 1.4 times as fast.
 */
#define NODE_BYTES (8u << 20)

/* Which ranks use a buffer, and how many blocks it has: none, one, or one for
 * each rank. */
struct buffer {
    enum { NONE, ONE, EACH } blocks;
    enum { ALL, ROOT, OTHERS, LATER } ranks; /* LATER: all but rank 0 */
};

static const struct {
    struct buffer send, recv;
} buffers[] = {
    [DCOLL_GATHER] = {{ONE, ALL}, {EACH, ROOT}},
    [DCOLL_ALLGATHER] = {{ONE, ALL}, {EACH, ALL}},
    [DCOLL_ALLTOALL] = {{EACH, ALL}, {EACH, ALL}},
    [DCOLL_BCAST] = {{ONE, ROOT}, {ONE, OTHERS}},
    [DCOLL_SCATTER] = {{EACH, ROOT}, {ONE, ALL}},
    [DCOLL_BARRIER] = {{NONE, ALL}, {NONE, ALL}},
    [DCOLL_REDUCE] = {{ONE, ALL}, {ONE, ROOT}},
    [DCOLL_ALLREDUCE] = {{ONE, ALL}, {ONE, ALL}},
    [DCOLL_REDUCE_SCATTER_BLOCK] = {{EACH, ALL}, {ONE, ALL}},
    [DCOLL_SCAN] = {{ONE, ALL}, {ONE, ALL}},
    [DCOLL_EXSCAN] = {{ONE, ALL}, {ONE, LATER}},
    [DCOLL_ALLTOALLV] = {{NONE, ALL}, {NONE, ALL}},
};

static unsigned blocks_of(struct buffer b, const dcoll_args_t *args,
                          unsigned nranks, unsigned rank)
{
    const bool root = rank == args->root;
    if ((b.ranks == ROOT && !root) || (b.ranks == OTHERS && root) ||
        (b.ranks == LATER && rank == 0))
        return 0;
    return b.blocks == EACH ? nranks : b.blocks;
}

unsigned dcoll_send_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank)
{
    return dcoll_all_in_place(args)
               ? 0
               : blocks_of(buffers[args->collective].send, args, nranks, rank);
}

unsigned dcoll_recv_blocks(const dcoll_args_t *args, unsigned nranks,
                           unsigned rank)
{
    return blocks_of(buffers[args->collective].recv, args, nranks, rank);
}

/* Buffers of one block have the rank's own. */
static size_t bytes_of(const dcoll_args_t *args, unsigned blocks,
                       unsigned nranks, unsigned rank)
{
    return !blocks           ? 0
           : blocks < nranks ? dcoll_block_bytes(args, rank)
                             : dcoll_block_begin(args, nranks);
}

size_t dcoll_send_bytes(const dcoll_args_t *args, unsigned nranks,
                        unsigned rank)
{
    return bytes_of(args, dcoll_send_blocks(args, nranks, rank), nranks, rank);
}

size_t dcoll_recv_bytes(const dcoll_args_t *args, unsigned nranks,
                        unsigned rank)
{
    return bytes_of(args, dcoll_recv_blocks(args, nranks, rank), nranks, rank);
}

bool dcoll_all_in_place(const dcoll_args_t *args)
{
    return args->in_place && (args->collective == DCOLL_ALLGATHER ||
                              args->collective == DCOLL_ALLTOALL ||
                              args->collective == DCOLL_ALLREDUCE);
}

const char *dcoll_refusal(const dcoll_algorithm_t *algorithm,
                          const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    if (args->begin && !algorithm->unequal)
        return "its blocks have the same size";
    return algorithm->refuses ? algorithm->refuses(shape, args) : NULL;
}

bool dcoll_needs_commuting(const dcoll_algorithm_t *algorithm,
                           const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    dcoll_args_t any = *args, commuting = *args;
    any.commutes = false;
    commuting.commutes = true;
    return dcoll_refusal(algorithm, shape, &any) &&
           !dcoll_refusal(algorithm, shape, &commuting);
}

/* Bytes of a block from which NODE of one start has NODE_BYTES. */
static size_t least_for_node(const dcoll_algorithm_t *algorithm,
                             const dcoll_shape_t *shape)
{
    size_t bytes = algorithm->node_blocks ? NODE_BYTES : SIZE_MAX;
    for (unsigned i = 1; i < algorithm->node_blocks; i++)
        bytes /= shape->nranks;
    return bytes;
}

unsigned dcoll_depth(const dcoll_algorithm_t *algorithm,
                     const dcoll_shape_t *shape, size_t bytes, unsigned depth)
{
    if (algorithm->depth)
        return algorithm->depth;
    if (bytes >= least_for_node(algorithm, shape))
        return 1;
    /* each block has a flag, in a cache line */
    size_t block = bytes < DCOLL_CACHE_LINE ? DCOLL_CACHE_LINE : bytes;
    if (depth > 1)
        while (depth < algorithm->ahead &&
               2 * depth * block <= DEPTH_BYTES / shape->nranks)
            depth *= 2;
    return depth;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all within a node: each rank reads its blocks where they are, as in
 * allgather/pull.c. */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/pull.h"

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    if (args->in_place)
        return "in place, blocks would be overwritten before they are read";
    return node_refuses_several(shape, args);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const size_t own = rank * args->bytes;
    pull_begin(&node);
    dcoll_add_copy(s, dcoll_at(DCOLL_SEND, own), dcoll_at(DCOLL_RECV, own),
                   args->bytes);
    for (unsigned i = 1; i < node.count; i++)
        pull_from(&node, node_peer(&node, i), own);
    pull_end(&node);
}

const dcoll_algorithm_t alltoall_pull = {
    .name = "pull",
    .collective = DCOLL_ALLTOALL,
    .summary = "each reads its blocks where they are, by RDMA",
    .memory = "none",
    .refuses = refuses,
    .generate = generate,
};

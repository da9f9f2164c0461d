/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-to-all within a node: each rank deals its blocks at once, with one flag
 * for all readers, and picks its own of the others'. Synchronised as the
 * all-gather is (allgather/shm.c).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const dcoll_space_t source = args->in_place ? DCOLL_RECV : DCOLL_SEND;
    const size_t stride = node_deal_bytes(&node);
    const size_t temp = node_deal_temp(&node);
    const size_t own = rank * args->bytes;
    s->phase = 1;
    s->crossing = node.count == 2;
    s->flags = args->depth == 1 ? NODE_DONE + 1 : NODE_POSTED + 1;
    s->node_bytes = node.count * stride;
    s->temp_bytes = node.count * temp;
    node_enter(&node);
    node_deal(&node, source, rank * stride);
    if (!args->in_place)
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, own), dcoll_at(DCOLL_RECV, own),
                       args->bytes);
    for (unsigned i = 1; i < node.count; i++) {
        const unsigned peer = node_peer(&node, i);
        node_pick(&node, peer, peer * stride, peer * temp,
                  dcoll_at(DCOLL_RECV, peer * args->bytes));
    }
    node_leave(&node);
}

const dcoll_algorithm_t alltoall_shm = {
    .name = "shm-alltoall",
    .collective = DCOLL_ALLTOALL,
    .summary =
        "each posts its blocks in shared memory and reads what is for it",
    .memory = "NODE: N * N blocks if N blocks are more than 56 bytes; TEMP: "
              "N * 64 bytes if not",
    .node_blocks = 3,
    .refuses = node_refuses_several,
    .generate = generate,
};

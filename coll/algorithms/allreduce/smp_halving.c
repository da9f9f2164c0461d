/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-reduce of long blocks. Phases: 1 each rank of a node combines a
 * slice of the node's blocks, 2 the masters exchange by recursive halving and
 * doubling through k ports, from NODE to NODE, 3 all copy the result.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/halving.h"
#include "coll/build/node_slices.h"

/* NODE: the result, where it is on all nodes, then the blocks of this one. */
static const dcoll_place_t vector = {DCOLL_NODE, 0};

static size_t blocks_at(const struct node *n)
{
    return combine_stride(n->args->bytes);
}

static void be_master(const struct node *n)
{
    const bool sole = n->count == 1;
    const struct halving h = {
        .g = group_of_masters(n->shape, n->args, n->index, GRANT_IMPLIED, n->s),
        .vector = vector,
        .user = sole ? combine_user(n->args) : vector};
    n->s->temp_bytes = halving_bytes(&h);
    n->s->phase = 2;
    halving_run(&h);
    n->s->phase = 3;
    if (!sole)
        node_signal(n, NODE_POSTED); /* the result */
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    const bool sole = n.count == 1;
    if (shape->nnodes == 1) {
        node_slices_allreduce(&n);
        return;
    }
    s->phase = 1;
    s->flags = node_slices_flags(&n);
    s->node_bytes = blocks_at(&n) + (sole ? 0 : node_slices_bytes(&n));
    if (!sole)
        node_slices_reduce(&n, blocks_at(&n), rank == n.first, vector);
    if (rank == n.first)
        be_master(&n);
    s->phase = 3;
    if (rank != n.first)
        node_await(&n, n.first, NODE_POSTED, 0);
    dcoll_add_copy(s, vector, dcoll_at(DCOLL_RECV, 0), args->bytes);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_smp_halving = {
    .name = "smp-halving",
    .collective = DCOLL_ALLREDUCE,
    .summary = "ranks combine slices of their node's blocks, masters exchange "
               "by recursive halving",
    .memory = "NODE: a block, and as shm-slices within the node; TEMP: 1 "
              "block, 1 + k more unless the nodes are a power of k+1",
    .generate = generate,
};

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

/* TEMP: what masters put comes first, as it is where it is on all nodes. */
static void reduce_node(const struct node *n, const struct halving *h)
{
    const bool master = n->rank == n->first;
    const size_t temp = master ? halving_bytes(h) : 0;
    n->s->temp_bytes = temp + node_slices_temp(n);
    node_slices_reduce(n, &(struct node_slices){.at = blocks_at(n),
                                                .temp = temp,
                                                .shared = !master,
                                                .fetches = master,
                                                .dst = vector});
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    const bool sole = n.count == 1, master = rank == n.first;
    const struct halving h = {
        .g = group_of_masters(shape, args, n.index, GRANT_IMPLIED, s),
        .vector = vector,
        .user = sole ? combine_user(args) : vector};
    if (shape->nnodes == 1) {
        node_slices_allreduce(&n);
        return;
    }
    s->phase = 1;
    s->flags = node_slices_flags(&n);
    s->node_bytes = blocks_at(&n) + (sole ? 0 : node_slices_bytes(&n));
    if (sole)
        s->temp_bytes = halving_bytes(&h);
    else
        reduce_node(&n, &h);
    s->phase = 2;
    if (master)
        halving_run(&h);
    s->phase = 3;
    if (!master)
        node_await(&n, n.first, NODE_POSTED, 0);
    else if (!sole)
        node_signal(&n, NODE_POSTED); /* the result */
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

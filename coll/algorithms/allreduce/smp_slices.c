/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-reduce of long blocks. Phases: 1 ranks of a node combine slices
 * of its blocks, 2 each exchanges its slice with those that own it on the other
 * nodes, by recursive halving and doubling through k ports, from NODE to NODE,
 * 3 all copy the result. So all ranks' connections are active, as in the
 * multi-connection algorithms of seed 002, and a node sends each byte as often
 * as one rank would.
 *
 * There are as many owners as the smallest node has ranks.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/halving.h"
#include "coll/build/node_slices.h"

enum { EXCHANGED = NODE_POSTED }; /* an owner's flag: his slice is there */

static unsigned owners_of(const dcoll_shape_t *shape)
{
    unsigned least = dcoll_shape_locals(shape, 0);
    for (unsigned i = 0; i < shape->nnodes; i++) {
        const unsigned ranks = dcoll_shape_locals(shape, shape->node_begin[i]);
        least = ranks < least ? ranks : least;
    }
    return least;
}

/* NODE: the result, where it is on all nodes, then what leads to it. */
static const dcoll_place_t vector = {DCOLL_NODE, 0};

/* With the other nodes, of the slice of args, which begins there: TEMP from 0
 * on, as where others put must be the same on all nodes. */
static struct halving exchange_of(const struct node *n,
                                  const dcoll_args_t *slice, size_t begin)
{
    const bool sole = n->count == 1;
    return (struct halving){
        .g = group_of_owners(n->shape, slice, n->index, n->rank - n->first,
                             n->shape->ports + 1, GRANT_IMPLIED, n->s),
        .stages = radix_of(n->shape->nnodes, n->shape->ports),
        .vector = combine_at(vector, begin),
        .user = combine_at(sole ? combine_user(n->args) : vector, begin)};
}

static void copy_out(const struct node_slices *slices)
{
    const struct node *n = slices->node;
    for (unsigned i = 0; i < n->count; i++) {
        const unsigned peer = node_peer(n, i), owner = peer - n->first;
        if (owner >= slices->owners)
            continue;
        const size_t begin = node_slice_begin(slices, owner);
        if (i)
            node_await(n, peer, EXCHANGED, 0);
        dcoll_add_copy(n->s, combine_at(vector, begin),
                       dcoll_at(DCOLL_RECV, begin),
                       node_slice_bytes(slices, owner));
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    struct node_slices slices = node_slices_of(&n, owners_of(shape));
    const unsigned mine = rank - n.first;
    const bool sole = n.count == 1, owns = mine < slices.owners;
    dcoll_args_t slice = *args;
    slice.bytes = owns ? node_slice_bytes(&slices, mine) : 0;
    const struct halving h =
        exchange_of(&n, &slice, node_slice_begin(&slices, owns ? mine : 0));
    s->phase = 1;
    slices.at = combine_stride(args->bytes);
    slices.temp = slice.bytes ? halving_bytes(&h) : 0;
    slices.result = vector;
    s->flags = node_slices_flags(&slices);
    s->node_bytes = slices.at + (sole ? 0 : node_slices_bytes(&slices));
    s->temp_bytes = slices.temp + (sole ? 0 : slices.room);
    if (!sole)
        node_slices_reduce(&slices);
    s->phase = 2;
    if (slice.bytes)
        halving_run(&h);
    if (owns)
        node_signal(&n, EXCHANGED);
    s->phase = 3;
    copy_out(&slices);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_smp_slices = {
    .name = "smp-slices",
    .collective = DCOLL_ALLREDUCE,
    .summary = "ranks combine slices of their node's blocks, and exchange them "
               "with other nodes' by recursive halving",
    .memory = "NODE: a block, and as shm-slices within the node; TEMP: as "
              "halving, of a slice",
    .generate = generate,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/smp/smp_slices.h"

enum { EXCHANGED = NODE_POSTED }; /* an owner's flag: its slice is complete */

/* A place in the vector. */
static dcoll_place_t vector_at(size_t offset)
{
    return dcoll_at(DCOLL_NODE, offset);
}

/* TEMP from 0 on: the target of puts must be the same on all nodes. */
static struct halving exchange_of(const struct node *n,
                                  const dcoll_args_t *slice, size_t begin,
                                  grant_t grant)
{
    const bool sole = n->count == 1;
    return (struct halving){
        .g = group_of_owners(n->shape, slice, n->index, n->rank - n->first,
                             n->shape->ports + 1, grant, n->s),
        .stages = radix_of(n->shape->nnodes, n->shape->ports),
        .vector = vector_at(begin),
        .user =
            sole ? combine_at(combine_user(n->args), begin) : vector_at(begin)};
}

void smp_slices_open(struct smp_slices *x, const dcoll_shape_t *shape,
                     const dcoll_args_t *args, unsigned rank, grant_t grant,
                     dcoll_schedule_t *s)
{
    x->node = node_make(shape, args, rank, s);
    x->slices = node_slices_of(&x->node, dcoll_shape_least(shape));
    const unsigned me = rank - x->node.first;
    const bool sole = x->node.count == 1, owns = me < x->slices.owners;
    x->slice = *args;
    x->slice.bytes = owns ? node_slice_bytes(&x->slices, me) : 0;
    x->exchange =
        exchange_of(&x->node, &x->slice,
                    owns ? node_slice_begin(&x->slices, me) : 0, grant);
    x->slices.at = combine_stride(args->bytes);
    x->slices.temp = x->slice.bytes ? halving_bytes(&x->exchange) : 0;
    x->slices.result = vector_at(0);
    s->flags = node_slices_flags(&x->slices);
    s->node_bytes = x->slices.at + (sole ? 0 : node_slices_bytes(&x->slices));
    s->temp_bytes = x->slices.temp + (sole ? 0 : x->slices.room);
}

void smp_slices_combine(const struct smp_slices *x)
{
    if (x->node.count > 1)
        node_slices_reduce(&x->slices);
}

void smp_slices_signal(const struct smp_slices *x)
{
    if (x->node.rank - x->node.first < x->slices.owners)
        node_signal(&x->node, EXCHANGED);
}

void smp_slices_await(const struct smp_slices *x, unsigned lag)
{
    for (unsigned i = 1; i < x->node.count; i++) {
        const unsigned peer = node_peer(&x->node, i);
        if (peer - x->node.first < x->slices.owners)
            node_await(&x->node, peer, EXCHANGED, lag);
    }
}

void smp_slices_copy_out(const struct smp_slices *x)
{
    const struct node *n = &x->node;
    for (unsigned i = 0; i < n->count; i++) {
        const unsigned peer = node_peer(n, i), owner = peer - n->first;
        if (owner >= x->slices.owners)
            continue;
        const size_t begin = node_slice_begin(&x->slices, owner);
        if (i)
            node_await(n, peer, EXCHANGED, 0);
        dcoll_add_copy(n->s, vector_at(begin), dcoll_at(DCOLL_RECV, begin),
                       node_slice_bytes(&x->slices, owner));
    }
}

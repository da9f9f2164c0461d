/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/smp/masters.h"

unsigned masters_of(const struct node *node, unsigned index)
{
    return node->shape->node_begin[index];
}

unsigned masters_after(const struct node *node, unsigned distance)
{
    return (node->index + distance) % node->shape->nnodes;
}

unsigned masters_before(const struct node *node, unsigned distance)
{
    return masters_after(node, node->shape->nnodes - distance);
}

unsigned masters_ranks(const struct node *node, unsigned index, unsigned count)
{
    const dcoll_shape_t *shape = node->shape;
    const unsigned end = index + count;
    if (end <= shape->nnodes)
        return shape->node_begin[end] - shape->node_begin[index];
    return shape->nranks - shape->node_begin[index] +
           shape->node_begin[end - shape->nnodes];
}

void masters_keep_own(const struct node *node, size_t offset)
{
    dcoll_add_copy(node->s, node_own(node), dcoll_at(DCOLL_NODE, offset),
                   node->args->bytes);
}

void masters_collect(const struct node *node, size_t offset)
{
    const size_t bytes = node->args->bytes;
    for (unsigned i = 1; i < node->count; i++) {
        offset += bytes;
        node_fetch(node, node->first + i, offset, dcoll_at(DCOLL_NODE, offset),
                   bytes);
    }
}

void masters_copy_out(const struct node *node)
{
    const unsigned all = node->shape->nranks;
    if (!node->args->zero_copy) {
        node_copy_out_all(node, 0, all);
        return;
    }
    node_copy_out_all(node, 0, node->first);
    node_copy_out_all(node, node->first + node->count, all);
}

void masters_grant(const struct node *node, unsigned source, unsigned port)
{
    if (node->args->depth == 1)
        dcoll_add_notify(node->s, source, port, DCOLL_CREDIT);
}

void masters_take(const struct node *node, unsigned target)
{
    if (node->args->depth == 1)
        dcoll_add_wait(node->s, target, DCOLL_CREDIT, 0);
}

void masters_grant_children(const struct node *node, const struct tree *tree)
{
    struct tree_edge edge;
    for (unsigned i = 0; i < tree_slots(tree, node->index); i++)
        if (tree_child(tree, node->index, i, &edge))
            masters_grant(node, masters_of(node, edge.child), edge.port);
}

void masters_await_children(const struct node *node, const struct tree *tree)
{
    struct tree_edge edge;
    for (unsigned i = 0; i < tree_slots(tree, node->index); i++)
        if (tree_child(tree, node->index, i, &edge)) {
            node->s->step = (uint16_t)edge.level;
            dcoll_add_wait(node->s, masters_of(node, edge.child), DCOLL_DATA,
                           0);
        }
}

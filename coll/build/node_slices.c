/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_slices.h"

static struct slices slices(const struct node *node)
{
    return slices_of(node->args, node->count);
}

/* Of a rank's block in NODE. Its own slice of it is not needed there: that is
 * where the result goes. */
static dcoll_place_t block(const struct node *node, size_t at, unsigned rank)
{
    const size_t stride = combine_stride(node->args->bytes);
    return dcoll_at(DCOLL_NODE, at + (rank - node->first) * stride);
}

size_t node_slices_bytes(const struct node *node)
{
    return node->count * combine_stride(node->args->bytes);
}

static size_t begin_of(const struct node *node, unsigned rank)
{
    const struct slices s = slices(node);
    return slices_begin(&s, rank - node->first);
}

static size_t bytes_of(const struct node *node, unsigned rank)
{
    return begin_of(node, rank + 1) - begin_of(node, rank);
}

/* What others combine. */
static void post(const struct node *node, size_t at)
{
    const size_t begin = begin_of(node, node->rank);
    const size_t end = begin_of(node, node->rank + 1);
    const dcoll_place_t user = combine_user(node->args);
    const dcoll_place_t mine = block(node, at, node->rank);
    dcoll_add_copy(node->s, user, mine, begin);
    dcoll_add_copy(node->s, combine_at(user, end), combine_at(mine, end),
                   node->args->bytes - end);
    node_signal(node, NODE_POSTED);
}

void node_slices_combine(const struct node *node, size_t at)
{
    const size_t begin = begin_of(node, node->rank);
    const dcoll_place_t result = combine_at(block(node, at, node->rank), begin);
    post(node, at);
    node_await_all(node, NODE_POSTED, 0);
    const struct operands all = {
        .count = node->count,
        .own = node->rank - node->first,
        .row = dcoll_at(DCOLL_NODE, at + begin),
        .stride = combine_stride(node->args->bytes),
        .mine = combine_at(combine_user(node->args), begin),
        .spare = result,
    };
    combine_in_order(node->s, node->args, &all, result,
                     bytes_of(node, node->rank));
    node_signal(node, NODE_ARRIVED);
}

void node_slices_fetch(const struct node *node, size_t at, dcoll_place_t dst)
{
    for (unsigned i = 0; i < node->count; i++) {
        const unsigned peer = node_peer(node, i);
        const size_t begin = begin_of(node, peer);
        if (i)
            node_await(node, peer, NODE_ARRIVED, 0);
        dcoll_add_copy(node->s, combine_at(block(node, at, peer), begin),
                       combine_at(dst, begin), bytes_of(node, peer));
    }
}

void node_slices_allreduce(const struct node *node)
{
    node->s->phase = 1;
    if (node->count == 1) {
        combine_keep_own(node->s, node->args);
        return;
    }
    node->s->flags = NODE_ARRIVED + 1;
    node->s->node_bytes = node_slices_bytes(node);
    node_slices_combine(node, 0);
    node->s->phase = 2;
    node_slices_fetch(node, 0, dcoll_at(DCOLL_RECV, 0));
}

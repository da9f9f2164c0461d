/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/pace.h"
#include "coll/build/smp/pull.h"

void pull_begin(const struct node *node)
{
    node->s->phase = 1;
    node->s->flags = NODE_DONE + 1;
    node->s->shared = true;
    node_signal(node, NODE_POSTED);
}

void pull_from(const struct node *node, unsigned peer, size_t src)
{
    const dcoll_args_t *args = node->args;
    const unsigned ports = node->shape->ports;
    const unsigned distance = (peer + node->count - node->rank) % node->count;
    node->s->step = (uint16_t)((distance - 1) / ports);
    node_await(node, peer, NODE_POSTED, 0);
    pace(node->s, args);
    dcoll_add_get(node->s, peer, (distance - 1) % ports,
                  dcoll_at(args->in_place ? DCOLL_RECV : DCOLL_SEND, src),
                  dcoll_at(DCOLL_RECV, dcoll_block_begin(args, peer)),
                  dcoll_block_bytes(args, peer));
}

void pull_end(const struct node *node)
{
    if (node->count > 1 && node->args->bytes)
        dcoll_add_complete(node->s);
    node_signal(node, NODE_DONE);
    node_await_all(node, NODE_DONE, 0);
}

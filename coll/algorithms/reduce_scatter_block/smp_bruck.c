/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware reduce-scatter for nodes of as many ranks. Phases: 1. each rank
 * posts its operands in the node's shared memory; local rank i combines those
 * of the blocks of all local ranks i; 2. local ranks i of all nodes
 * reduce-scatter these sums by Bruck's steps (build/reduce/cyclic_reduce.h).
 * So what goes from one node to another is summed over the node first, and all
 * ranks of a node share the work. NODE has a row of operands for each block.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/cyclic_reduce.h"
#include "coll/build/smp/node.h"

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    return dcoll_shape_least(shape) != dcoll_shape_ppn(shape)
               ? "all nodes must have as many ranks"
               : cyclic_reduce_refuses(shape, args);
}

static dcoll_place_t operand(const struct node *n, unsigned block,
                             unsigned from)
{
    const size_t index = (size_t)block * n->count + from;
    return dcoll_at(DCOLL_NODE, index * combine_stride(n->args->bytes));
}

/* The operands of my local number's blocks stay in SEND. */
static void post(const struct node *n, unsigned mine)
{
    const size_t bytes = n->args->bytes;
    if (n->count == 1)
        return;
    for (unsigned block = 0; block < n->shape->nranks; block++)
        if (block % n->count != mine)
            dcoll_add_copy(n->s, dcoll_at(DCOLL_SEND, block * bytes),
                           operand(n, block, mine), bytes);
    node_signal(n, NODE_POSTED);
    node_await_all(n, NODE_POSTED, 0);
}

static void combine(const struct node *n, unsigned mine, unsigned block,
                    dcoll_place_t to)
{
    const size_t bytes = n->args->bytes;
    const struct operands all = {.count = n->count,
                                 .own = mine,
                                 .row = operand(n, block, 0),
                                 .stride = combine_stride(bytes),
                                 .mine = dcoll_at(DCOLL_SEND, block * bytes),
                                 .spare = operand(n, block, mine)};
    combine_in_order(n->s, n->args, &all, to, bytes);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    const unsigned nodes = shape->nnodes, mine = rank - n.first;
    const dcoll_place_t vector = dcoll_at(DCOLL_TEMP, 0);
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const struct cyclic_reduce r = {
        .ring = {.args = args,
                 .s = s,
                 .ports = shape->ports,
                 .first = mine,
                 .me = n.index,
                 .apart = n.count,
                 .slices = slices_of_blocks(args, nodes),
                 .rotated = true,
                 .vector = vector},
        .user = vector,
        .temp = combine_stride(nodes * args->bytes),
        .grant = grant_among_all(args, DCOLL_TEMP),
        .result = recv};
    s->phase = 1;
    s->flags = NODE_DONE + 1;
    s->node_bytes = operand(&n, shape->nranks, 0).offset;
    s->temp_bytes = nodes > 1 ? r.temp + cyclic_reduce_bytes(&r) : 0;
    node_enter(&n);
    post(&n, mine);
    for (unsigned d = 0; d < nodes; d++) {
        const unsigned node = (n.index + d) % nodes;
        combine(&n, mine, node * n.count + mine,
                combine_at(nodes > 1 ? vector : recv, d * args->bytes));
    }
    s->phase = 2;
    if (nodes > 1) {
        cyclic_reduce(&r);
        cyclic_reduce_close(&r);
    }
    node_leave(&n);
}

const dcoll_algorithm_t reduce_scatter_block_smp_bruck = {
    .name = "smp-bruck",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "each node combines first, then k-port Bruck reversed between "
               "ranks of equal local number",
    .memory = "NODE: L * N blocks, L ranks of a node, in whole cache lines; "
              "TEMP: 2H blocks for H nodes",
    .refuses = refuses,
    .generate = generate,
};

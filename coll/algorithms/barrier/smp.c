/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware barrier: each node's ranks set their flags, the masters disseminate
 * through k ports in ⌈log_{k+1} nodes⌉ steps, then release their nodes.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/disseminate.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    s->flags = NODE_POSTED + 1;
    if (rank == n.first) {
        s->phase = 1;
        node_await_all(&n, NODE_POSTED, 0);
        s->phase = 2;
        disseminate(s, shape->node_begin, shape->nnodes, n.index, shape->ports,
                    DCOLL_DATA);
        s->phase = 3;
        node_signal(&n, NODE_POSTED);
    } else {
        s->phase = 1;
        node_signal(&n, NODE_POSTED);
        s->phase = 3;
        node_await(&n, n.first, NODE_POSTED, 0);
    }
}

const dcoll_algorithm_t barrier_smp = {
    .name = "smp-barrier",
    .collective = DCOLL_BARRIER,
    .summary = "flags in shared memory on nodes, masters disseminate",
    .memory = "none but a flag per rank",
    .generate = generate,
};

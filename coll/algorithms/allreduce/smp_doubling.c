/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-reduce of short blocks. Phases: 1. each node's master combines
 * the posted blocks of its ranks; 2. masters exchange by recursive doubling
 * through k ports; 3. they post the result (Qian and Afsahi 2008, section 5.2).
 * A rank that has the result knows that its node's posted blocks have been
 * read, and posts its next block only after it has read the result.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/doubling.h"
#include "coll/build/flat.h"
#include "coll/build/smp/node.h"

static void be_master(const struct node *n, const struct doubling *d)
{
    const size_t bytes = n->args->bytes;
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const bool alone = n->shape->nnodes == 1;
    const struct operands all = node_operands(n, alone ? 0 : doubling_bytes(d));
    if (alone) {
        combine_in_order(n->s, n->args, &all, recv, bytes);
    } else {
        group_grant(&d->g, grant_open);
        combine_in_order(n->s, n->args, &all, doubling_own(d), bytes);
        n->s->phase = 2;
        doubling_run(d, recv);
    }
    n->s->phase = 3;
    node_post(n, recv, 0, bytes);
    flat_complete(n->s);
    if (!alone)
        group_grant(&d->g, grant_close);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct node n = node_make(shape, args, rank, s);
    const grant_t grant = grant_among_all(args, DCOLL_TEMP);
    const unsigned radix = clusters_radix(shape->nnodes, shape->ports + 1);
    const struct doubling d = {
        .g = group_of_owners(shape, args, n.index, 0, radix, grant, s)};
    s->phase = 1;
    s->flags = NODE_POSTED + 1;
    s->node_bytes = node_row_bytes(&n);
    s->temp_bytes = node_row_temp(&n);
    if (shape->nnodes > 1)
        s->temp_bytes += doubling_bytes(&d);
    if (rank == n.first) {
        be_master(&n, &d);
    } else {
        node_post(&n, combine_user(args), node_row_own(&n), args->bytes);
        s->phase = 3;
        node_fetch(&n, n.first, 0, dcoll_at(DCOLL_RECV, 0), args->bytes);
    }
}

const dcoll_algorithm_t allreduce_smp_doubling = {
    .name = "smp-doubling",
    .collective = DCOLL_ALLREDUCE,
    .summary = "masters combine their nodes' blocks, and exchange them by "
               "recursive doubling",
    .memory = "NODE: a block of each rank of the node, of more than 56 bytes; "
              "TEMP: as doubling",
    .generate = generate,
};

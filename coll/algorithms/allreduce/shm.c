/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce within a node: each rank posts its block and combines all of them
 * (the all-gather of Qian and Afsahi 2008, section 4.1, but combining).
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node node = node_make(shape, args, rank, s);
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const bool in_line = node_fits_line(args->bytes);
    s->phase = 1;
    s->crossing = node.count == 2;
    s->flags = NODE_DONE + 1;
    s->node_bytes = node_row_bytes(&node);
    s->temp_bytes = node_row_temp(&node);
    node_enter(&node);
    node_post(&node, combine_user(args), node_row_own(&node), args->bytes);
    struct operands all = node_operands(&node, 0);
    if (!in_line && args->in_place && node.count > 2)
        all.mine = all.spare; /* the place from which the others read it */
    if (!in_line)
        all.spare = recv;
    combine_in_order(s, args, &all, recv, args->bytes);
    node_leave(&node);
}

const dcoll_algorithm_t allreduce_shm = {
    .name = "shm-allreduce",
    .collective = DCOLL_ALLREDUCE,
    .summary = "each posts its block in shared memory and combines all",
    .memory = "NODE: N blocks of more than 56 bytes, in whole cache lines; "
              "TEMP: N shorter ones",
    .refuses = node_refuses_several,
    .generate = generate,
};

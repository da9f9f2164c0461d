/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware reduce of long blocks: the owners of a slice on all nodes divide
 * it; each combines a part, and puts it to the owner on the root's node.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/smp/smp_slices.h"

/* On the root's node: receives parts from the nodes after it, k in a step. A
 * node puts its part after it has received all earlier ones: then the vector
 * has been read. */
static void bring(const struct smp_slices *x, unsigned root)
{
    const struct halving *h = &x->exchange;
    const unsigned nodes = h->g.c.n, k = h->g.ports, me = h->g.me;
    const uint16_t first = h->g.s->step;
    for (unsigned d = 1; d < nodes; d++) {
        const unsigned owner = (root + d) % nodes;
        const struct halved part = halving_part(h, owner);
        h->g.s->step = (uint16_t)(first + (d - 1) / k);
        if (!part.bytes)
            continue;
        const dcoll_place_t at = combine_at(h->vector, part.begin);
        if (me == owner)
            dcoll_add_put(h->g.s, group_rank(&h->g, root), (d - 1) % k, at, at,
                          part.bytes);
        if (me == root)
            group_wait(&h->g, owner);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const grant_t grant = grant_among_all(args, DCOLL_TEMP);
    struct smp_slices x;
    s->phase = 1;
    smp_slices_open(&x, shape, args, rank, grant, s);
    x.exchange.once = true;
    if (args->depth == 1) /* before the blocks that they combine are posted */
        smp_slices_await(&x, 1);
    smp_slices_combine(&x);
    s->phase = 2;
    if (x.slice.bytes) {
        halving_open(&x.exchange);
        halving_run(&x.exchange);
        bring(&x, dcoll_shape_node(shape, args->root));
    }
    smp_slices_signal(&x);
    s->phase = 3;
    if (rank == args->root)
        smp_slices_copy_out(&x);
    flat_complete(s);
    if (x.slice.bytes)
        halving_close(&x.exchange);
}

const dcoll_algorithm_t reduce_smp_slices = {
    .name = "smp-slices",
    .collective = DCOLL_REDUCE,
    .summary = "ranks combine slices of their node's blocks, parts of them "
               "with other nodes' by recursive halving, for the root",
    .memory = "NODE: a block, and as shm-slices within the node; TEMP: as "
              "halving, of a slice",
    .generate = generate,
};

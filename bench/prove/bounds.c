/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "bounds.h"

unsigned bound_steps(const dcoll_shape_t *shape, bool shares)
{
    const unsigned n = shares ? shape->nnodes : shape->nranks;
    const unsigned each = shares ? dcoll_shape_ppn(shape) : 1;
    unsigned steps = 0;
    for (size_t reach = 1; reach < n; reach *= shape->ports * each + 1)
        steps++;
    return steps;
}

/* A rank, or the ranks of a node, which share their ports. */
struct end {
    double ranks, ports;
    bool root;
};

static struct end end_of(const dcoll_args_t *args, const dcoll_shape_t *shape,
                         bool shares, unsigned index)
{
    const unsigned begin = shares ? shape->node_begin[index] : index;
    const unsigned after = shares ? shape->node_begin[index + 1] : index + 1;
    struct end e = {.ranks = after - begin,
                    .root = args->root >= begin && args->root < after};
    for (unsigned r = begin; r < after; r++)
        e.ports += dcoll_rank_ports(shape, args, r);
    return e;
}

/* The blocks that must enter or leave an end. */
static double blocks_of(dcoll_collective_t collective, const struct end *e,
                        double n)
{
    switch (collective) {
    case DCOLL_BARRIER:
        return 0;
    case DCOLL_BCAST: /* each end sends, or receives, a block */
    case DCOLL_REDUCE:
    case DCOLL_ALLREDUCE:
    case DCOLL_SCAN:
    case DCOLL_EXSCAN:
        return 1;
    case DCOLL_GATHER: /* the others' blocks at the root's end; an end's own */
    case DCOLL_SCATTER:
        return e->root ? n - e->ranks : e->ranks;
    case DCOLL_ALLTOALL:
        return e->ranks * (n - e->ranks);
    default: /* all-gather, reduce-scatter: in one direction those of all other
                ranks, in the other one its own */
        return fmax(n - e->ranks, e->ranks);
    }
}

double bound_blocks(const dcoll_args_t *args, const dcoll_shape_t *shape,
                    bool shares)
{
    const unsigned ends = shares ? shape->nnodes : shape->nranks;
    double most = 0, ports = 0;
    for (unsigned i = 0; ends > 1 && i < ends; i++) {
        const struct end e = end_of(args, shape, shares, i);
        most = fmax(most,
                    blocks_of(args->collective, &e, shape->nranks) / e.ports);
        ports += e.ports;
    }
    if (args->collective == DCOLL_ALLREDUCE && ends > 1)
        most = fmax(most, 2.0 * (ends - 1) / ports); /* of all together */
    return most;
}

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

/* An end: a rank, or the ranks of a node, which share their ports. */
double bound_blocks(const dcoll_args_t *args, const dcoll_shape_t *shape,
                    bool shares)
{
    const unsigned ends = shares ? shape->nnodes : shape->nranks;
    const double n = shape->nranks, k = shape->ports;
    const double least = shares ? dcoll_shape_least(shape) : 1;
    const double root = shares ? dcoll_shape_locals(shape, args->root) : 1;
    if (ends == 1)
        return 0;
    switch (args->collective) {
    case DCOLL_BARRIER:
        return 0;
    case DCOLL_BCAST: /* the smallest end sends, or receives, a block */
    case DCOLL_REDUCE:
    case DCOLL_SCAN:
    case DCOLL_EXSCAN:
        return 1 / (k * least);
    case DCOLL_GATHER: /* the others' blocks at the root's end; an end's own */
    case DCOLL_SCATTER:
        return fmax((n - root) / (k * root), 1 / k);
    case DCOLL_ALLREDUCE: /* all ends together send 2 (ends - 1) blocks */
        return fmax(2.0 * (ends - 1) / (k * n), 1 / (k * least));
    case DCOLL_ALLTOALL:
        return (n - least) / k;
    default: /* all-gather, reduce-scatter: one for each rank of other ends */
        return (n - least) / (k * least);
    }
}

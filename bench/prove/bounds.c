/* SPDX-License-Identifier: BSD-3-Clause */
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

double bound_blocks(dcoll_collective_t collective, const dcoll_shape_t *shape)
{
    const double n = shape->nranks, k = shape->ports;
    if (n == 1)
        return 0;
    switch (collective) {
    case DCOLL_BARRIER:
        return 0;
    case DCOLL_BCAST:
    case DCOLL_REDUCE:
    case DCOLL_SCAN:
    case DCOLL_EXSCAN:
        return 1 / k;
    case DCOLL_ALLREDUCE:
        return 2 * (n - 1) / n / k;
    default:
        return (n - 1) / k;
    }
}

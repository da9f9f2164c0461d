/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions by libdcoll: in the order of the ranks, so also by operations that
 * do not commute, and of the same bits on all of them. MPI demands the same
 * datatype and operation of all ranks. */
#include <stdio.h>
#include <string.h>

#include "mpi/layer.h"
#include "mpi/run/operators.h"
#include "mpi/requests/requests.h"

/* Of an element, as ROOM_LEAST serves for its operands. */
#define ELEMENT_MOST ROOM_LEAST

const dcoll_reduction_t *reduce_basic(const struct layer_call *a)
{
    return dcoll_collective_reduces(a->collective)
               ? operators_basic(a->recv_type, a->op)
               : NULL;
}

static size_t element_of(const struct layer_call *a)
{
    const dcoll_reduction_t *basic = reduce_basic(a);
    int size;
    if (basic)
        return basic->element;
    return pmpi.Type_size(a->recv_type, &size) || size < 0 ? 0 : (size_t)size;
}

bool reduce_can(const struct layer_call *a)
{
    if (reduce_basic(a))
        return true;
    const size_t element = element_of(a);
    return data_is_plain(a->recv_type) && element && element <= ELEMENT_MOST &&
           operators_can(a->recv_type, a->op);
}

bool reduce_is_exact(const struct layer_call *a)
{
    return operators_are_exact(a->recv_type, a->op);
}

struct layer_call reduce_below(const struct layer_comm *c,
                               const struct layer_call *a, void *recv)
{
    struct layer_call below = *a;
    below.recv = recv;
    below.comm = c->inner;
    return below;
}

static int verify(struct layer_comm *c, const struct layer_call *a,
                  const void *mine, size_t bytes)
{
    bool here = a->collective == DCOLL_ALLREDUCE || a->root == c->rank;
    char *expected = c->expected.data;
    struct layer_call below = reduce_below(c, a, expected);
    below.send = mine;
    int rc = layer_below(&below);
    if (rc || !here || !reduce_is_exact(a) || !memcmp(expected, a->recv, bytes))
        return rc;
    layer.differences++;
    fprintf(stderr,
            "dcoll_mpi: verify: rank %d of %d: %s of %zu bytes: the result "
            "differs\n",
            c->rank, c->size, layer_name(a->collective), bytes);
    return rc;
}

/* What this rank gives, where the result does not go over it. */
static const void *keep_given(struct layer_comm *c, const struct layer_call *a,
                              size_t bytes)
{
    if (a->send != MPI_IN_PLACE)
        return a->send;
    return memcpy((char *)c->expected.data + bytes, a->recv, bytes);
}

int reduce_run(struct layer_comm *c, const struct layer_call *a, size_t bytes)
{
    bool everywhere = a->collective == DCOLL_ALLREDUCE;
    bool here = everywhere || a->root == c->rank;
    bool in_place = a->send == MPI_IN_PLACE;
    struct operation operation;
    const void *given = NULL;
    if (layer.verify && !ours_all_can(c, layer_room(&c->expected, 2 * bytes)))
        return OURS_LEFT;
    if (layer.verify)
        given = keep_given(c, a, bytes);
    operators_open(&operation, a->recv_type, a->op, element_of(a), c->recv.data,
                   ROOM_LEAST);
    const dcoll_call_t call = {.collective =
                                   everywhere ? DCOLL_ALLREDUCE : DCOLL_REDUCE,
                               .send = in_place ? DCOLL_IN_PLACE : a->send,
                               .recv = here ? a->recv : NULL,
                               .bytes = bytes,
                               .root = (unsigned)a->root,
                               .reduction = &operation.reduction};
    int rc = ours_dcoll(c, &call);
    if (rc)
        return ours_error(c, rc);
    if (operation.rc)
        return operation.rc;
    return layer.verify ? verify(c, a, given, bytes) : MPI_SUCCESS;
}

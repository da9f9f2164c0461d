/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions by libdcoll. It combines operands of the program's own operations
 * in the order of the ranks, so they need not commute, and all ranks get the
 * same bits. MPI demands the same datatype and operation on all ranks. */
#include <stdio.h>
#include <string.h>

#include "mpi/below/below.h"
#include "mpi/run/operators.h"
#include "mpi/run/run.h"

/* Bytes of an element: c->recv must hold an operand. */
#define ELEMENT_MOST BUFFER_LEAST

const dcoll_reduction_t *reduce_basic(const struct layer_call *a)
{
    return layer_reduces(a->collective) ? operators_basic(a->recv_type, a->op)
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
    return datatype_is_contiguous(a->recv_type) && element &&
           element <= ELEMENT_MOST && operators_can(a->recv_type, a->op);
}

bool reduce_is_exact(const struct layer_call *a)
{
    return operators_are_exact(a->recv_type, a->op);
}

bool reduce_rounds(const struct layer_call *a)
{
    return layer_reduces(a->collective) && !reduce_is_exact(a);
}

bool reduce_has_result(const struct layer_comm *c, const struct layer_call *a)
{
    switch (a->collective) {
    case LAYER_REDUCE:
        return a->root == c->rank;
    case LAYER_EXSCAN:
        return c->rank > 0;
    default:
        return true;
    }
}

bool reduce_has_blocks(int collective)
{
    return collective == LAYER_REDUCE_SCATTER_BLOCK ||
           collective == LAYER_REDUCE_SCATTER;
}

static size_t bytes_of_rank(const struct layer_call *a, int rank)
{
    return (size_t)datatype_bytes(layer_count_at(a, a->recv_counts, rank),
                                  a->recv_type);
}

size_t reduce_given_bytes(const struct layer_comm *c,
                          const struct layer_call *a, size_t bytes)
{
    if (a->collective != LAYER_REDUCE_SCATTER)
        return reduce_has_blocks(a->collective) ? (size_t)c->size * bytes
                                                : bytes;
    size_t all = 0;
    for (int r = 0; r < c->size; r++)
        all += bytes_of_rank(a, r);
    return all;
}

size_t reduce_result_bytes(const struct layer_comm *c,
                           const struct layer_call *a, size_t bytes)
{
    return a->collective == LAYER_REDUCE_SCATTER ? bytes_of_rank(a, c->rank)
                                                 : bytes;
}

const size_t *reduce_counts(const struct layer_comm *c,
                            const struct layer_call *a, size_t *counts)
{
    if (a->collective != LAYER_REDUCE_SCATTER)
        return NULL;
    for (int r = 0; r < c->size; r++)
        counts[r] = (size_t)layer_count_at(a, a->recv_counts, r);
    return counts;
}

dcoll_collective_t reduce_collective(const struct layer_call *a)
{
    return a->collective == LAYER_REDUCE_SCATTER
               ? DCOLL_REDUCE_SCATTER_BLOCK
               : (dcoll_collective_t)a->collective;
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
    bool here = reduce_has_result(c, a);
    char *expected = c->expected.data;
    struct layer_call below = reduce_below(c, a, expected);
    below.send = mine;
    int rc = below_run(&below);
    if (rc || !here || !reduce_is_exact(a) || !memcmp(expected, a->recv, bytes))
        return rc;
    layer.differences++;
    fprintf(stderr,
            "dcoll_mpi: verify: rank %d of %d: %s of %zu bytes: the result "
            "differs\n",
            c->rank, c->size, layer_name(a->collective), bytes);
    return rc;
}

/* verify: a copy of this rank's data, if the result overwrites them. */
static const void *keep_given(struct layer_comm *c, const struct layer_call *a,
                              size_t bytes)
{
    if (a->send != MPI_IN_PLACE)
        return a->send;
    return memcpy((char *)c->expected.data + bytes, a->recv,
                  reduce_given_bytes(c, a, bytes));
}

int reduce_run(struct layer_comm *c, const struct layer_call *a, size_t bytes)
{
    bool in_place = a->send == MPI_IN_PLACE;
    bool here = in_place || reduce_has_result(c, a);
    struct operation operation;
    const void *given = NULL;
    if (layer.verify &&
        !team_all_can(c,
                      buffer_reserve(&c->expected,
                                     bytes + reduce_given_bytes(c, a, bytes))))
        return LEFT_TO_MPI;
    if (layer.verify)
        given = keep_given(c, a, bytes);
    operators_open(&operation, a->recv_type, a->op, element_of(a), c->recv.data,
                   BUFFER_LEAST);
    const size_t *counts = reduce_counts(c, a, c->counts.data);
    const dcoll_call_t call = {.collective = reduce_collective(a),
                               .send = in_place ? DCOLL_IN_PLACE : a->send,
                               .recv = here ? a->recv : NULL,
                               .bytes = counts ? 0 : bytes,
                               .root = (unsigned)a->root,
                               .reduction = &operation.reduction,
                               .counts = counts};
    int rc = team_call(c, &call);
    if (rc)
        return team_error_code(c, rc);
    if (operation.rc)
        return operation.rc;
    return layer.verify ? verify(c, a, given, reduce_result_bytes(c, a, bytes))
                        : MPI_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short reductions: the elements of all ranks by all-gather (or gather), then
 * reduced here, in the order of the ranks: all have the same result, also by
 * operations that do not commute. MPI demands the same datatype and operation
 * of all ranks.
 */
#include <stdio.h>
#include <string.h>

#include "layer.h"
#include "requests.h"

/* Integers only: the greater one of two zeros, or of a number and none, depends
 * on which is the first. */
bool reduce_is_exact(const struct layer_call *a)
{
    return (a->recv_type == MPI_INT || a->recv_type == MPI_LONG ||
            a->recv_type == MPI_UNSIGNED ||
            a->recv_type == MPI_UNSIGNED_LONG) &&
           (a->op == MPI_SUM || a->op == MPI_MAX || a->op == MPI_MIN ||
            a->op == MPI_PROD || a->op == MPI_BAND || a->op == MPI_BOR);
}

struct layer_call reduce_again(struct layer_comm *c, const struct layer_call *a)
{
    struct layer_call again = *a;
    if (a->send == MPI_IN_PLACE)
        again.send = a->recv;
    again.recv = c->send.data; /* nothing is packed */
    again.comm = c->inner;
    return again;
}

/* The operands lie one after another; the result, where the last one is. */
static int reduce(const struct layer_comm *c, const struct layer_call *a,
                  char *operands, size_t bytes)
{
    int rc = MPI_SUCCESS;
    char *result = operands + bytes * ((size_t)c->size - 1);
    for (char *at = result - bytes; !rc && at >= operands; at -= bytes)
        rc = PMPI_Reduce_local(at, result, a->recv_count, a->recv_type, a->op);
    return rc;
}

static int verify(struct layer_comm *c, const struct layer_call *a,
                  const void *mine, const char *result, size_t bytes)
{
    struct layer_call below = *a;
    char *expected = c->expected.data;
    below.send = mine;
    below.recv = expected;
    below.comm = c->inner;
    int rc = layer_below(&below);
    if (rc || !result || !reduce_is_exact(a) ||
        !memcmp(expected, result, bytes))
        return rc;
    layer.differences++;
    fprintf(stderr,
            "dcoll_mpi: verify: rank %d of %d: %s of %zu bytes: the result "
            "differs\n",
            c->rank, c->size, layer_name(a->collective), bytes);
    return rc;
}

int reduce_run(struct layer_comm *c, const struct layer_call *a, size_t bytes)
{
    bool everywhere = a->collective == LAYER_ALLREDUCE;
    bool here = everywhere || a->root == c->rank;
    const void *mine = a->send == MPI_IN_PLACE ? a->recv : a->send;
    char *all = c->recv.data; /* has REDUCE_MOST bytes */
    if (layer.verify && !ours_all_can(c, layer_room(&c->expected, bytes)))
        return OURS_LEFT;
    const dcoll_call_t call = {.collective =
                                   everywhere ? DCOLL_ALLGATHER : DCOLL_GATHER,
                               .send = mine,
                               .recv = here ? all : NULL,
                               .bytes = bytes,
                               .root = (unsigned)a->root};
    int rc = ours_dcoll(c, &call);
    if (rc)
        return ours_error(c, rc);
    char *result = here ? all + bytes * ((size_t)c->size - 1) : NULL;
    if (here)
        rc = reduce(c, a, all, bytes);
    if (!rc && layer.verify)
        rc = verify(c, a, mine, result, bytes);
    if (!rc && here)
        memcpy(a->recv, result, bytes);
    return rc;
}

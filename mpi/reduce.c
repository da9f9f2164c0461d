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

/* Is the result the same in any order of the operands? */
static bool is_exact(const struct layer_call *a)
{
    return a->op == MPI_MAX || a->op == MPI_MIN || a->recv_type == MPI_INT ||
           a->recv_type == MPI_LONG || a->recv_type == MPI_UNSIGNED ||
           a->recv_type == MPI_UNSIGNED_LONG;
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
    char *expected = layer_room(&c->expected, bytes);
    if (!expected)
        return MPI_ERR_NO_MEM;
    below.send = mine;
    below.recv = expected;
    below.comm = c->inner;
    int rc = layer_below(&below);
    if (rc || !result || !is_exact(a) || !memcmp(expected, result, bytes))
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
    char *all = layer_room(&c->recv, bytes * (size_t)c->size);
    if (!all)
        return MPI_ERR_NO_MEM;
    const dcoll_call_t call = {.collective =
                                   everywhere ? DCOLL_ALLGATHER : DCOLL_GATHER,
                               .send = mine,
                               .recv = here ? all : NULL,
                               .bytes = bytes,
                               .root = (unsigned)a->root};
    int rc = team_run(c, &call);
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

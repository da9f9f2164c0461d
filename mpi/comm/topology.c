/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbours of this rank, in the order of MPI's neighbourhood
 * collectives. */
#include <stdlib.h>

#include "mpi/comm/comm.h"

static int reserve(struct neighbors *all, int n)
{
    all->ranks = malloc(((size_t)n + 1) * sizeof *all->ranks);
    all->n = all->ranks ? n : 0;
    return all->ranks ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int reserve_both(struct layer_comm *c, int sources, int destinations)
{
    int rc = reserve(&c->sources, sources);
    return rc ? rc : reserve(&c->destinations, destinations);
}

/* Two in each dimension: the one before, the one behind. All ranks see that a
 * dimension of one or two ranks wraps. */
static int open_cartesian(struct layer_comm *c, MPI_Comm comm)
{
    int dimensions, rc = pmpi.Cartdim_get(comm, &dimensions);
    if (!rc)
        rc = reserve_both(c, 2 * dimensions, 2 * dimensions);
    for (int i = 0; !rc && i < dimensions; i++) {
        int *at = &c->sources.ranks[2 * i];
        rc = pmpi.Cart_shift(comm, i, 1, &at[0], &at[1]);
        c->destinations.ranks[2 * i] = at[0];
        c->destinations.ranks[2 * i + 1] = at[1];
        c->has_twins |= !rc && at[0] == at[1] && at[0] != MPI_PROC_NULL;
    }
    return rc;
}

static int open_graph(struct layer_comm *c, MPI_Comm comm)
{
    int n, rc = pmpi.Graph_neighbors_count(comm, c->rank, &n);
    if (!rc)
        rc = reserve_both(c, n, n);
    if (!rc)
        rc = pmpi.Graph_neighbors(comm, c->rank, n, c->sources.ranks);
    for (int i = 0; !rc && i < n; i++)
        c->destinations.ranks[i] = c->sources.ranks[i];
    return rc;
}

/* MPI_UNWEIGHTED is a variable of some MPIs, which this library must not need.
 */
static int open_distributed(struct layer_comm *c, MPI_Comm comm)
{
    int in, out, weighted, *weights = NULL;
    int rc = pmpi.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    if (!rc)
        rc = reserve_both(c, in, out);
    if (!rc) {
        weights = malloc((size_t)(in + out + 1) * sizeof *weights);
        rc = weights ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    if (!rc)
        rc = pmpi.Dist_graph_neighbors(comm, in, c->sources.ranks, weights, out,
                                       c->destinations.ranks, weights + in);
    free(weights);
    return rc;
}

static bool has_twins(const struct neighbors *all)
{
    for (int i = 0; i < all->n; i++)
        for (int k = 0; k < i; k++)
            if (all->ranks[i] == all->ranks[k])
                return true;
    return false;
}

/* Only its two ends know that an edge occurs twice, so all ranks agree. */
static void agree_on_twins(struct layer_comm *c, MPI_Comm comm)
{
    const int mine = has_twins(&c->sources) || has_twins(&c->destinations);
    int all;
    c->has_twins =
        pmpi.Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, comm) || all;
}

int topology_open(struct layer_comm *c, MPI_Comm comm)
{
    int kind, rc = pmpi.Topo_test(comm, &kind);
    if (rc)
        return rc;
    if (kind == MPI_CART)
        return open_cartesian(c, comm);
    if (kind != MPI_GRAPH && kind != MPI_DIST_GRAPH)
        return MPI_ERR_TOPOLOGY;
    rc = kind == MPI_GRAPH ? open_graph(c, comm) : open_distributed(c, comm);
    if (rc)
        c->sources.n = c->destinations.n = 0;
    agree_on_twins(c, comm);
    return rc;
}

void topology_close(struct layer_comm *c)
{
    free(c->sources.ranks);
    free(c->destinations.ranks);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program's neighbourhood collectives, on Cartesian
 * communicators (periodic or not, also with dimensions of one or two ranks), on
 * graphs and on distributed graphs, and MPI_Alltoallw; blocking, non-blocking
 * and persistent. Each block says from whom it comes and in which direction it
 * goes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 300, GAP = 3, MOST_NEIGHBORS = 64 };

static int failures;

struct graph {
    MPI_Comm comm;
    int rank, in, out;
    int sources[MOST_NEIGHBORS], destinations[MOST_NEIGHBORS];
    int index[MOST_NEIGHBORS]; /* the sender's number of each block received */
    int cartesian;             /* destinations and index are not set */
    int twice;                 /* several edges have the same ends */
    const char *name;
};

static void wrong(const struct graph *g, const char *what)
{
    failures++;
    fprintf(stderr, "rank %d: %s, %s: wrong\n", g->rank, what, g->name);
}

/* Element i of the block that rank @from sends as its block @index. */
static int value(int from, int index, int i)
{
    return from * 1000000 + index * 10000 + i;
}

/* The sender's number of the block that this rank gets as block i: in a
 * Cartesian communicator a block that goes up comes from below. But where both
 * neighbours are the same rank, some MPIs keep the order; and where edges have
 * the same ends, some MPIs change it. */
static int index_at_sender(const struct graph *g, int i, const int *block)
{
    const int from = g->sources[i], keeps = block[0] == value(from, i, 0);
    const int said = (block[0] - value(from, 0, 0)) / 10000;
    if (!g->cartesian)
        return g->twice && said >= 0 && said < g->in && g->sources[said] == from
                   ? said
                   : g->index[i];
    return g->sources[i] == g->sources[i ^ 1] && keeps ? i : i ^ 1;
}

enum kind {
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    ADDRESSES,
    KINDS
};
static const char *const names[KINDS] = {
    [ALLGATHER] = "neighbor_allgather",
    [ALLGATHERV] = "neighbor_allgatherv",
    [ALLTOALL] = "neighbor_alltoall",
    [ALLTOALLV] = "neighbor_alltoallv",
    [ALLTOALLW] = "neighbor_alltoallw",
    [ADDRESSES] = "neighbor_alltoallw behind MPI_BOTTOM",
};

/* Arguments: blocks with gaps in between, in a strided type when they are
 * received. */
static struct {
    int *send, *recv;
    int counts[MOST_NEIGHBORS], displs[MOST_NEIGHBORS];
    MPI_Aint places[MOST_NEIGHBORS];
    MPI_Aint from[MOST_NEIGHBORS], to[MOST_NEIGHBORS]; /* addresses */
    MPI_Datatype types[MOST_NEIGHBORS];
} a;

static void set_arguments(int n)
{
    for (int i = 0; i < n; i++) {
        a.counts[i] = COUNT;
        a.displs[i] = i * (COUNT + GAP);
        a.places[i] = a.displs[i] * (MPI_Aint)sizeof(int);
        a.types[i] = MPI_INT;
        MPI_Get_address(a.send + a.displs[i], &a.from[i]);
        MPI_Get_address(a.recv + a.displs[i], &a.to[i]);
    }
}

static void call(const struct graph *g, enum kind kind, MPI_Request *request)
{
    set_arguments(MOST_NEIGHBORS);
    switch (kind) {
    case ALLGATHER:
        request ? MPI_Ineighbor_allgather(a.send, COUNT, MPI_INT, a.recv, COUNT,
                                          MPI_INT, g->comm, request)
                : MPI_Neighbor_allgather(a.send, COUNT, MPI_INT, a.recv, COUNT,
                                         MPI_INT, g->comm);
        break;
    case ALLGATHERV:
        request
            ? MPI_Ineighbor_allgatherv(a.send, COUNT, MPI_INT, a.recv, a.counts,
                                       a.displs, MPI_INT, g->comm, request)
            : MPI_Neighbor_allgatherv(a.send, COUNT, MPI_INT, a.recv, a.counts,
                                      a.displs, MPI_INT, g->comm);
        break;
    case ALLTOALL:
        request ? MPI_Ineighbor_alltoall(a.send, COUNT, MPI_INT, a.recv, COUNT,
                                         MPI_INT, g->comm, request)
                : MPI_Neighbor_alltoall(a.send, COUNT, MPI_INT, a.recv, COUNT,
                                        MPI_INT, g->comm);
        break;
    case ALLTOALLV:
        request ? MPI_Ineighbor_alltoallv(a.send, a.counts, a.displs, MPI_INT,
                                          a.recv, a.counts, a.displs, MPI_INT,
                                          g->comm, request)
                : MPI_Neighbor_alltoallv(a.send, a.counts, a.displs, MPI_INT,
                                         a.recv, a.counts, a.displs, MPI_INT,
                                         g->comm);
        break;
    case ADDRESSES:
        request ? MPI_Ineighbor_alltoallw(MPI_BOTTOM, a.counts, a.from, a.types,
                                          MPI_BOTTOM, a.counts, a.to, a.types,
                                          g->comm, request)
                : MPI_Neighbor_alltoallw(MPI_BOTTOM, a.counts, a.from, a.types,
                                         MPI_BOTTOM, a.counts, a.to, a.types,
                                         g->comm);
        break;
    default:
        request ? MPI_Ineighbor_alltoallw(a.send, a.counts, a.places, a.types,
                                          a.recv, a.counts, a.places, a.types,
                                          g->comm, request)
                : MPI_Neighbor_alltoallw(a.send, a.counts, a.places, a.types,
                                         a.recv, a.counts, a.places, a.types,
                                         g->comm);
    }
}

#if MPI_VERSION >= 4
static void make_request(const struct graph *g, enum kind kind,
                         MPI_Request *request)
{
    set_arguments(MOST_NEIGHBORS);
    switch (kind) {
    case ALLGATHER:
        MPI_Neighbor_allgather_init(a.send, COUNT, MPI_INT, a.recv, COUNT,
                                    MPI_INT, g->comm, MPI_INFO_NULL, request);
        break;
    case ALLGATHERV:
        MPI_Neighbor_allgatherv_init(a.send, COUNT, MPI_INT, a.recv, a.counts,
                                     a.displs, MPI_INT, g->comm, MPI_INFO_NULL,
                                     request);
        break;
    case ALLTOALL:
        MPI_Neighbor_alltoall_init(a.send, COUNT, MPI_INT, a.recv, COUNT,
                                   MPI_INT, g->comm, MPI_INFO_NULL, request);
        break;
    case ALLTOALLV:
        MPI_Neighbor_alltoallv_init(a.send, a.counts, a.displs, MPI_INT, a.recv,
                                    a.counts, a.displs, MPI_INT, g->comm,
                                    MPI_INFO_NULL, request);
        break;
    case ADDRESSES:
        MPI_Neighbor_alltoallw_init(MPI_BOTTOM, a.counts, a.from, a.types,
                                    MPI_BOTTOM, a.counts, a.to, a.types,
                                    g->comm, MPI_INFO_NULL, request);
        break;
    default:
        MPI_Neighbor_alltoallw_init(a.send, a.counts, a.places, a.types, a.recv,
                                    a.counts, a.places, a.types, g->comm,
                                    MPI_INFO_NULL, request);
    }
}
#endif

static void fill(const struct graph *g, enum kind kind)
{
    const int stride = kind == ALLTOALL ? COUNT : COUNT + GAP;
    const int blocks = kind <= ALLGATHERV ? 1 : g->out;
    memset(a.recv, -1, MOST_NEIGHBORS * (COUNT + GAP) * sizeof *a.recv);
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < COUNT; i++)
            a.send[b * stride + i] = value(g->rank, b, i);
}

static int is_right(const struct graph *g, enum kind kind, const int *block,
                    int i)
{
    const int from = g->sources[i];
    if (from == MPI_PROC_NULL)
        return block[0] == -1;
    const int index = kind <= ALLGATHERV ? 0 : index_at_sender(g, i, block);
    return block[0] == value(from, index, 0) &&
           block[COUNT - 1] == value(from, index, COUNT - 1);
}

static void check(const struct graph *g, enum kind kind)
{
    const int stride =
        kind == ALLGATHER || kind == ALLTOALL ? COUNT : COUNT + GAP;
    int good = 1;
    for (int i = 0; i < g->in; i++)
        good &= is_right(g, kind, a.recv + i * stride, i);
    if (!good)
        wrong(g, names[kind]);
}

/* Some MPIs have none: those of MPI 3. */
static void try_persistent(const struct graph *g, enum kind kind)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    make_request(g, kind, &request);
    for (int start = 0; start < 3; start++) {
        fill(g, kind);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(g, kind);
    }
    MPI_Request_free(&request);
#else
    (void)g, (void)kind;
#endif
}

static void try_all(const struct graph *g)
{
    for (int again = 0; again < 4; again++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int begun = 0; begun < 2; begun++) {
                MPI_Request request;
                fill(g, (enum kind)kind);
                call(g, (enum kind)kind, begun ? &request : NULL);
                if (begun)
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                check(g, (enum kind)kind);
            }
    for (int kind = 0; kind < KINDS; kind++)
        try_persistent(g, (enum kind)kind);
}

/* ---------------------------------------------------------- topologies --- */

static void try_cartesian(int dimensions, const int *lengths, int periodic)
{
    struct graph g = {.cartesian = 1,
                      .name = periodic ? "periodic grid" : "grid"};
    int periods[] = {periodic, periodic};
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, lengths, periods, 0, &g.comm);
    if (g.comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(g.comm, &g.rank);
    g.in = g.out = 2 * dimensions;
    for (int i = 0; i < dimensions; i++)
        MPI_Cart_shift(g.comm, i, 1, &g.sources[2 * i], &g.sources[2 * i + 1]);
    try_all(&g);
    MPI_Comm_free(&g.comm);
}

/* A ring, in which each rank sends to the two after it; with three edges a
 * rank, two blocks go to the nearer one. */
static void try_distributed(int rank, int size, int edges)
{
    struct graph g = {.rank = rank, .in = edges, .out = edges, .name = "ring"};
    const int weights[] = {1, 1, 1}, far[] = {1, 2, 1};
    g.twice = edges > 2;
    for (int i = 0; i < edges; i++) {
        g.destinations[i] = (rank + far[i]) % size;
        g.sources[i] = (rank + 2 * size - far[i]) % size;
        g.index[i] = i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, g.sources, weights,
                                   edges, g.destinations, weights,
                                   MPI_INFO_NULL, 0, &g.comm);
    try_all(&g);
    MPI_Comm_free(&g.comm);
}

/* A star: rank 0 and each other one are neighbours. */
static void try_graph(int rank, int size)
{
    struct graph g = {.rank = rank, .name = "star"};
    int index[MOST_NEIGHBORS] = {0}, edges[2 * MOST_NEIGHBORS] = {0};
    for (int r = 0; r < size; r++)
        index[r] = size - 1 + r;
    for (int r = 1; r < size; r++) {
        edges[r - 1] = r;
        edges[size - 2 + r] = 0;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &g.comm);
    g.in = g.out = rank ? 1 : size - 1;
    for (int i = 0; i < g.in; i++) {
        g.sources[i] = g.destinations[i] = rank ? 0 : i + 1;
        g.index[i] = rank ? rank - 1 : 0;
    }
    try_all(&g);
    MPI_Comm_free(&g.comm);
}

/* --------------------------------------------------------------- alltoallw */

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static void exchange(int form, const int *places, const MPI_Datatype *sent)
{
    MPI_Request request;
    if (form == BLOCKING) {
        MPI_Alltoallw(a.send, a.counts, places, sent, a.recv, a.counts, places,
                      a.types, MPI_COMM_WORLD);
        return;
    }
    if (form == NONBLOCKING)
        MPI_Ialltoallw(a.send, a.counts, places, sent, a.recv, a.counts, places,
                       a.types, MPI_COMM_WORLD, &request);
#if MPI_VERSION >= 4
    if (form == PERSISTENT) {
        MPI_Alltoallw_init(a.send, a.counts, places, sent, a.recv, a.counts,
                           places, a.types, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Start(&request);
    }
#endif
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(&request);
}

/* Odd ranks get each second element. */
static void try_alltoallw(int rank, int size, int form)
{
    struct graph g = {.rank = rank, .name = "world"};
    int places[MOST_NEIGHBORS];
    MPI_Datatype wide, of_sender[MOST_NEIGHBORS];
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &wide);
    MPI_Type_commit(&wide);
    for (int again = 0; again < 4; again++) {
        MPI_Barrier(MPI_COMM_WORLD); /* prepares missed calls */
        memset(a.recv, -1, MOST_NEIGHBORS * (COUNT + GAP) * sizeof *a.recv);
        for (int r = 0; r < size; r++) {
            a.counts[r] = COUNT / 2;
            places[r] = r * (COUNT + GAP) * (int)sizeof(int);
            a.types[r] = r % 2 ? wide : MPI_INT;
            of_sender[r] = MPI_INT;
            for (int i = 0; i < COUNT / 2; i++)
                a.send[r * (COUNT + GAP) + i] = value(rank, r, i);
        }
        exchange(form, places, of_sender);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < COUNT / 2; i++)
                if (a.recv[r * (COUNT + GAP) + i * (r % 2 ? 2 : 1)] !=
                    value(r, rank, i)) {
                    wrong(&g, "alltoallw");
                    r = size - 1;
                    break;
                }
    }
    MPI_Type_free(&wide);
}

int main(int argc, char **argv)
{
    int all, rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    a.send = calloc(MOST_NEIGHBORS * (COUNT + GAP), sizeof *a.send);
    a.recv = calloc(MOST_NEIGHBORS * (COUNT + GAP), sizeof *a.recv);
    for (int periodic = 0; periodic < 2; periodic++) {
        try_cartesian(1, (int[]){size}, periodic);
        try_cartesian(2, (int[]){1, size}, periodic);
        if (size % 2 == 0)
            try_cartesian(2, (int[]){2, size / 2}, periodic);
    }
    try_distributed(rank, size, 2);
    try_distributed(rank, size, 3);
    try_graph(rank, size);
    for (int form = 0; form < (MPI_VERSION >= 4 ? FORMS : PERSISTENT); form++)
        try_alltoallw(rank, size, form);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    free(a.send);
    free(a.recv);
    MPI_Finalize();
    return all != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program that makes each call twice, and then a call that
 * differs in one argument: what the layer remembers of the first call must not
 * serve for the last one.
 */
#include <mpi.h>
#include <stdio.h>

#define MOST 1024 /* ints of a buffer */

enum { ALLGATHER, ALLTOALL, GATHER, SCATTER, BCAST, ALLREDUCE, REDUCE, KINDS };
static const char *const kinds[] = {"allgather", "alltoall", "gather",
                                    "scatter",   "bcast",    "allreduce",
                                    "reduce"};

/* Of one that has no such argument it changes nothing. */
struct call {
    int count, root;
    int send_step, recv_step; /* ints from one to the next; not of reductions */
    int from, to;             /* of the buffers */
    int place, most, real;    /* MPI_IN_PLACE, MPI_MAX, MPI_FLOAT */
};

static const struct call usual = {5, 0, 1, 1, 0, 0, 0, 0, 0};
static const struct {
    const char *what;
    struct call call;
} others[] = {
    {"count", {7, 0, 1, 1, 0, 0, 0, 0, 0}},
    {"root", {5, 1, 1, 1, 0, 0, 0, 0, 0}},
    {"send type", {5, 0, 2, 1, 0, 0, 0, 0, 0}},
    {"receive type", {5, 0, 1, 2, 0, 0, 0, 0, 0}},
    {"send buffer", {5, 0, 1, 1, 1, 0, 0, 0, 0}},
    {"receive buffer", {5, 0, 1, 1, 0, 1, 0, 0, 0}},
    {"place", {5, 0, 1, 1, 0, 0, 1, 0, 0}},
    {"operation", {5, 0, 1, 1, 0, 0, 0, 1, 0}},
    {"type of a reduction", {5, 0, 1, 1, 0, 0, 0, 0, 1}},
};

static union number {
    int i;
    float f;
} from[2][MOST], to[2][MOST];

static int rank, size, failures, turn;
static MPI_Datatype types[3]; /* by their steps */

/* Element i that rank r has for rank @of. */
static int value(int r, int of, int i)
{
    return 1 + (r * 31 + of * 7 + i + turn) % 1000;
}

static void put(union number *at, int value, int real)
{
    if (real)
        at->f = (float)value;
    else
        at->i = value;
}

static int holds(const union number *at, int value, int real)
{
    return real ? at->f == (float)value : at->i == value;
}

/* Block @b of what this rank has for rank @of. */
static void fill(union number *data, const struct call *c, int step, int b,
                 int of)
{
    for (int i = 0; i < c->count; i++)
        put(data + (b * c->count + i) * step, value(rank, of, i), c->real);
}

/* What this rank gives: its own block, or one for each, in place or not. */
static void give(int kind, const struct call *c, int place)
{
    int own = place || kind == BCAST, step = own ? c->recv_step : c->send_step;
    union number *data = own ? to[c->to] : from[c->from];
    int among = place && (kind == ALLGATHER || kind == GATHER);
    if (kind == ALLTOALL || kind == SCATTER)
        for (int r = 0; r < size; r++)
            fill(data, c, step, r, r);
    else if (kind != BCAST || rank == c->root)
        fill(data, c, step, among ? rank : 0, 0);
}

static int has(const struct call *c, int b, int r, int of)
{
    const union number *data = to[c->to];
    for (int i = 0; i < c->count; i++)
        if (!holds(data + (b * c->count + i) * c->recv_step, value(r, of, i),
                   0))
            return 0;
    return 1;
}

static int has_reduced(const struct call *c)
{
    for (int i = 0; i < c->count; i++) {
        int all = 0;
        for (int r = 0; r < size; r++) {
            int one = value(r, 0, i);
            all = !c->most ? all + one : one > all ? one : all;
        }
        if (!holds(to[c->to] + i, all, c->real))
            return 0;
    }
    return 1;
}

static int has_all(int kind, const struct call *c)
{
    int good = 1;
    if (kind == BCAST || kind == SCATTER)
        return has(c, 0, c->root, kind == SCATTER ? rank : 0);
    if (kind == ALLREDUCE || kind == REDUCE)
        return has_reduced(c);
    for (int r = 0; r < size; r++)
        good &= has(c, r, r, kind == ALLTOALL ? rank : 0);
    return good;
}

static void make(int kind, const struct call *c, int place)
{
    const void *send = place ? MPI_IN_PLACE : from[c->from];
    void *recv = to[c->to];
    const int n = c->count, root = c->root;
    const int elsewhere = rank == root ? n : 0; /* which means nothing */
    const MPI_Datatype out = types[c->send_step], in = types[c->recv_step];
    const MPI_Datatype number = c->real ? MPI_FLOAT : MPI_INT;
    const MPI_Op op = c->most ? MPI_MAX : MPI_SUM;
    const MPI_Comm comm = MPI_COMM_WORLD;
    if (kind == ALLGATHER)
        MPI_Allgather(send, n, out, recv, n, in, comm);
    else if (kind == ALLTOALL)
        MPI_Alltoall(send, n, out, recv, n, in, comm);
    else if (kind == GATHER)
        MPI_Gather(send, n, out, recv, elsewhere, in, root, comm);
    else if (kind == SCATTER)
        MPI_Scatter(from[c->from], elsewhere, out, recv, n, in, root, comm);
    else if (kind == BCAST)
        MPI_Bcast(recv, n, in, root, comm);
    else if (kind == ALLREDUCE)
        MPI_Allreduce(send, recv, n, number, op, comm);
    else
        MPI_Reduce(send, recv, n, number, op, root, comm);
}

static void clear(union number *data)
{
    for (int i = 0; i < MOST; i++)
        data[i].i = -1;
}

static void run(int kind, const struct call *given, const char *what)
{
    struct call c = *given;
    int reduces = kind == ALLREDUCE || kind == REDUCE;
    int rooted = kind == GATHER || kind == REDUCE;
    int place = c.place && kind != SCATTER && kind != BCAST &&
                (!rooted || rank == c.root);
    if (reduces)
        c.send_step = c.recv_step = 1;
    else
        c.real = 0;
    turn++;
    for (int i = 0; i < 2; i++) {
        clear(from[i]);
        clear(to[i]);
    }
    give(kind, &c, place);
    make(kind, &c, place);
    if ((rooted && rank != c.root) || has_all(kind, &c))
        return;
    failures++;
    fprintf(stderr, "rank %d: %s, %s: wrong data\n", rank, kinds[kind], what);
}

int main(int argc, char **argv)
{
    int all;
    MPI_Datatype vector;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_vector(1, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * sizeof(int), &types[2]);
    MPI_Type_commit(&types[2]);
    types[1] = MPI_INT;
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
            run(kind, &usual, "the first time");
            run(kind, &usual, "again");
            run(kind, &others[i].call, others[i].what);
        }
    MPI_Type_free(&vector);
    MPI_Type_free(&types[2]);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}

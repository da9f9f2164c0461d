/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program's calls with a count for each rank:
 * MPI_Reduce_scatter, with operations that commute or not, MPI_Allgatherv,
 * MPI_Gatherv and MPI_Scatterv, with the same counts again, with others, in
 * place, with gaps and with a strided type, MPI_Alltoallv and MPI_Alltoallw in
 * place; blocking, non-blocking and persistent.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16, KINDS = 4 };

static int rank, size, failures;
static int *send, *recv, *counts, *displs;

static void wrong(const char *what, int kind)
{
    failures++;
    fprintf(stderr, "rank %d: %s, counts of kind %d: wrong\n", rank, what,
            kind);
}

/* The number of elements of all ranks. */
static int set_counts(int kind)
{
    int all = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = kind == 0   ? r % 3
                    : kind == 1 ? 1000 * (r == 1)
                    : kind == 2 ? 100 * r + 1
                                : 5;
        displs[r] = all;
        all += counts[r];
    }
    return all;
}

/* ------------------------------------------------------ reduce-scatter --- */

/* Keeps the left operand: it is associative, and does not commute. */
static void left(void *in, void *inout, int *length, MPI_Datatype *type)
{
    memcpy(inout, in, (size_t)*length * sizeof(int));
    (void)type;
}

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* Some programs (mpi4py) give the array of counts back when the call returns.
 */
static void forget(int *given)
{
    memset(given, 0x7f, (size_t)size * sizeof *given);
}

static void reduce_scatter(int form, const void *from, MPI_Op op)
{
    MPI_Request request;
    int *given = malloc((size_t)size * sizeof *given);
    memcpy(given, counts, (size_t)size * sizeof *given);
    if (form == BLOCKING) {
        MPI_Reduce_scatter(from, recv, given, MPI_INT, op, MPI_COMM_WORLD);
        free(given);
        return;
    }
#if MPI_VERSION >= 4 /* before, this form is non-blocking, too */
    if (form == PERSISTENT) {
        MPI_Reduce_scatter_init(from, recv, given, MPI_INT, op, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request);
        forget(given);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        free(given);
        return;
    }
#endif
    MPI_Ireduce_scatter(from, recv, given, MPI_INT, op, MPI_COMM_WORLD,
                        &request);
    forget(given);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(given);
}

static void check_reduced(int kind, int in_place, int all, int ordered)
{
    const int end = in_place ? all : counts[rank];
    int good = recv[end] == -1;
    for (int i = 0; i < counts[rank]; i++) {
        const int at = displs[rank] + i;
        const int sum = size * at + 7 * size * (size - 1) / 2;
        good &= recv[i] == (ordered ? at : sum);
    }
    if (!good)
        wrong(ordered ? "reduce_scatter in order" : "reduce_scatter", kind);
}

static void try_reduce_scatter(int form, int kind, int in_place, MPI_Op op)
{
    const int all = set_counts(kind);
    int *from = in_place ? recv : send;
    memset(recv, -1, MOST * sizeof *recv);
    for (int i = 0; i < all; i++)
        from[i] = i + 7 * rank;
    reduce_scatter(form, in_place ? MPI_IN_PLACE : send, op);
    check_reduced(kind, in_place, all, op != MPI_SUM);
}

/* ---------------------------------------------------------- all-gather --- */

/* Completes a request, and starts it again if it is persistent. */
static void complete(MPI_Request *request, int form)
{
    for (int start = 0; start < (form == PERSISTENT ? 2 : 1); start++) {
        if (form == PERSISTENT)
            MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    if (form == PERSISTENT)
        MPI_Request_free(request);
}

/* Blocks of a type with gaps, or gaps between blocks. */
static void spread(int gap)
{
    for (int r = 0, at = 0; r < size; at += counts[r++] + gap)
        displs[r] = at;
}

static void check_gathered(int kind, int stride, const char *what)
{
    int good = 1;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            good &= recv[(displs[r] + i) * stride] == 1000 * r + i;
    if (!good)
        wrong(what, kind);
}

static void try_allgatherv(int form, int kind, int in_place, int gap,
                           MPI_Datatype type, int stride)
{
    MPI_Request request;
    set_counts(kind);
    spread(gap);
    memset(recv, -1, MOST * sizeof *recv);
    for (int i = 0; i < counts[rank]; i++)
        (in_place ? recv + displs[rank] * stride
                  : send)[in_place ? i * stride : i] = 1000 * rank + i;
    const void *from = in_place ? MPI_IN_PLACE : send;
    if (form == BLOCKING)
        MPI_Allgatherv(from, counts[rank], MPI_INT, recv, counts, displs, type,
                       MPI_COMM_WORLD);
    else if (form == NONBLOCKING)
        MPI_Iallgatherv(from, counts[rank], MPI_INT, recv, counts, displs, type,
                        MPI_COMM_WORLD, &request);
#if MPI_VERSION >= 4
    else
        MPI_Allgatherv_init(from, counts[rank], MPI_INT, recv, counts, displs,
                            type, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#endif
    if (form != BLOCKING)
        complete(&request, form);
    check_gathered(kind, stride, "allgatherv");
}

/* --------------------------------------------------- gather and scatter --- */

/* Arguments of the root are wrong on purpose on other ranks. */
static void try_gatherv(int form, int kind, int in_place, int root, int gap,
                        MPI_Datatype type, int stride)
{
    MPI_Request request;
    set_counts(kind);
    spread(gap);
    const int here = rank == root, *all = here ? counts : NULL;
    in_place &= here;
    memset(recv, -1, MOST * sizeof *recv);
    for (int i = 0; i < counts[rank]; i++)
        (in_place ? recv + displs[rank] * stride
                  : send)[in_place ? i * stride : i] = 1000 * rank + i;
    const void *from = in_place ? MPI_IN_PLACE : send;
    if (form == BLOCKING)
        MPI_Gatherv(from, counts[rank], MPI_INT, here ? recv : NULL, all,
                    here ? displs : NULL, type, root, MPI_COMM_WORLD);
    else if (form == NONBLOCKING)
        MPI_Igatherv(from, counts[rank], MPI_INT, here ? recv : NULL, all,
                     here ? displs : NULL, type, root, MPI_COMM_WORLD,
                     &request);
#if MPI_VERSION >= 4
    else
        MPI_Gatherv_init(from, counts[rank], MPI_INT, here ? recv : NULL, all,
                         here ? displs : NULL, type, root, MPI_COMM_WORLD,
                         MPI_INFO_NULL, &request);
#endif
    if (form != BLOCKING)
        complete(&request, form);
    if (here)
        check_gathered(kind, stride, "gatherv");
    else if (recv[0] != -1)
        wrong("gatherv of another root", kind);
}

static void try_scatterv(int form, int kind, int in_place, int root, int gap,
                         MPI_Datatype type, int stride)
{
    MPI_Request request;
    int good = 1;
    set_counts(kind);
    spread(gap);
    const int here = rank == root, *all = here ? counts : NULL;
    const int mine = counts[rank];
    void *to = in_place && here ? MPI_IN_PLACE : recv;
    memset(recv, -1, MOST * sizeof *recv);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            send[(displs[r] + i) * stride] = here ? 1000 * r + i : -2;
    if (form == BLOCKING)
        MPI_Scatterv(here ? send : NULL, all, here ? displs : NULL, type, to,
                     mine, MPI_INT, root, MPI_COMM_WORLD);
    else if (form == NONBLOCKING)
        MPI_Iscatterv(here ? send : NULL, all, here ? displs : NULL, type, to,
                      mine, MPI_INT, root, MPI_COMM_WORLD, &request);
#if MPI_VERSION >= 4
    else
        MPI_Scatterv_init(here ? send : NULL, all, here ? displs : NULL, type,
                          to, mine, MPI_INT, root, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &request);
#endif
    if (form != BLOCKING)
        complete(&request, form);
    for (int i = 0; i < mine && to == recv; i++)
        good &= recv[i] == 1000 * rank + i;
    if (!good || recv[to == recv ? mine : 0] != -1)
        wrong("scatterv", kind);
}

/* ------------------------------------------------- all-to-all in place --- */

static void exchange(int form, int typed, MPI_Request *request)
{
    static MPI_Datatype types[64];
    static int bytes[64];
    for (int r = 0; r < size; r++) {
        types[r] = MPI_INT;
        bytes[r] = displs[r] * (int)sizeof(int);
    }
    if (form == BLOCKING && typed)
        MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, recv, counts, bytes,
                      types, MPI_COMM_WORLD);
    else if (form == BLOCKING)
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, recv, counts,
                      displs, MPI_INT, MPI_COMM_WORLD);
    else if (form == NONBLOCKING && typed)
        MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, recv, counts, bytes,
                       types, MPI_COMM_WORLD, request);
    else if (form == NONBLOCKING)
        MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, recv,
                       counts, displs, MPI_INT, MPI_COMM_WORLD, request);
#if MPI_VERSION >= 4
    else if (typed)
        MPI_Alltoallw_init(MPI_IN_PLACE, NULL, NULL, NULL, recv, counts, bytes,
                           types, MPI_COMM_WORLD, MPI_INFO_NULL, request);
    else
        MPI_Alltoallv_init(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, recv,
                           counts, displs, MPI_INT, MPI_COMM_WORLD,
                           MPI_INFO_NULL, request);
#endif
}

/* Two ranks exchange as many elements in both directions. */
static void try_exchange(int form, int kind, int typed)
{
    MPI_Request request;
    int good = 1;
    for (int r = 0; r < size; r++)
        counts[r] = kind == 0   ? (r + rank) % 3
                    : kind == 1 ? 1000 * (r * rank == 0)
                                : 5 + r * rank;
    spread(1);
    memset(recv, -1, MOST * sizeof *recv);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            recv[displs[r] + i] = 10000 * rank + 2000 * r + i;
    exchange(form, typed, &request);
    if (form == NONBLOCKING)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT) { /* once: the second start would send back */
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            good &= recv[displs[r] + i] == 10000 * r + 2000 * rank + i;
        good &= recv[displs[r] + counts[r]] == -1;
    }
    if (!good)
        wrong(typed ? "alltoallw in place" : "alltoallv in place", kind);
}

/* All forms that this MPI has. */
static void try_blocks(int form, int kind, int in_place, MPI_Datatype strided)
{
    for (int root = 0; root < size; root += size - 1) {
        try_gatherv(form, kind, in_place, root, 0, MPI_INT, 1);
        try_gatherv(form, kind, in_place, root, 1, strided, 2);
        try_scatterv(form, kind, in_place, root, 0, MPI_INT, 1);
        try_scatterv(form, kind, in_place, root, 1, strided, 2);
    }
    try_allgatherv(form, kind, in_place, 0, MPI_INT, 1);
    try_allgatherv(form, kind, in_place, 2, MPI_INT, 1);
    try_allgatherv(form, kind, in_place, 1, strided, 2);
}

int main(int argc, char **argv)
{
    int all;
    MPI_Op op;
    MPI_Datatype strided, wide;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    send = malloc(MOST * sizeof *send);
    recv = malloc(MOST * sizeof *recv);
    counts = malloc((size_t)size * sizeof *counts);
    displs = malloc((size_t)size * sizeof *displs);
    MPI_Op_create(left, 0, &op);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &wide);
    MPI_Type_dup(wide, &strided);
    MPI_Type_commit(&strided);
    for (int again = 0; again < 4; again++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int in_place = 0; in_place < 2; in_place++) {
                for (int form = 0; form < FORMS; form++) {
                    try_reduce_scatter(form, kind, in_place, MPI_SUM);
                    try_reduce_scatter(form, kind, in_place, op);
                    MPI_Barrier(MPI_COMM_WORLD); /* prepares missed calls */
                }
                for (int call = 0; call < 3; call++)
                    for (int form = 0; form < PERSISTENT; form++)
                        try_blocks(form, kind, in_place, strided);
                if (MPI_VERSION >= 4 && !again)
                    try_blocks(PERSISTENT, kind, in_place, strided);
                for (int form = 0; form < (MPI_VERSION >= 4 ? FORMS : 2);
                     form++)
                    try_exchange(form, kind, in_place);
            }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Op_free(&op);
    MPI_Type_free(&strided);
    MPI_Type_free(&wide);
    free(send);
    free(recv);
    free(counts);
    free(displs);
    MPI_Finalize();
    return all != 0;
}

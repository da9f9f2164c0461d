/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program's calls with counts that all ranks know:
 * MPI_Reduce_scatter, with operations that commute or not, and MPI_Allgatherv,
 * with the same counts again, with others, in place, with gaps and with a
 * strided type; blocking, non-blocking and persistent.
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

static void reduce_scatter(int form, const void *from, MPI_Op op)
{
    MPI_Request request;
    if (form == BLOCKING) {
        MPI_Reduce_scatter(from, recv, counts, MPI_INT, op, MPI_COMM_WORLD);
        return;
    }
#if MPI_VERSION >= 4 /* before, this form is non-blocking, too */
    if (form == PERSISTENT) {
        MPI_Reduce_scatter_init(from, recv, counts, MPI_INT, op, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return;
    }
#endif
    MPI_Ireduce_scatter(from, recv, counts, MPI_INT, op, MPI_COMM_WORLD,
                        &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
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

/* Blocks of a type with gaps, or gaps between blocks. */
static void spread(int gap)
{
    for (int r = 0, at = 0; r < size; at += counts[r++] + gap)
        displs[r] = at;
}

static void check_gathered(int kind, int stride)
{
    int good = 1;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            good &= recv[(displs[r] + i) * stride] == 1000 * r + i;
    if (!good)
        wrong("allgatherv", kind);
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
    else {
        MPI_Iallgatherv(from, counts[rank], MPI_INT, recv, counts, displs, type,
                        MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check_gathered(kind, stride);
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
                    for (int form = 0; form < PERSISTENT; form++) {
                        try_allgatherv(form, kind, in_place, 0, MPI_INT, 1);
                        try_allgatherv(form, kind, in_place, 2, MPI_INT, 1);
                        try_allgatherv(form, kind, in_place, 1, strided, 2);
                    }
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

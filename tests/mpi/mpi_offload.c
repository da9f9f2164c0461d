/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that an MPI can leave to its network: Barrier, Bcast,
 * Allgather, Allreduce, with basic types, in many sizes, on communicators that
 * are made and freed. Data are checked.
 *
 * usage: mpi_offload ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RANKS 16

static const int counts[] = {1, 2, 7, 100, 1024, 5000, 40000};
#define COUNTS (int)(sizeof counts / sizeof counts[0])
#define MOST   40000

static long failures;
static int send[MOST], recv[MOST_RANKS * MOST];

static void expect(int got, int want, const char *what, int count)
{
    if (got == want)
        return;
    if (failures++ < 10)
        printf("%s of %d: %d, not %d\n", what, count, got, want);
}

static int value(int rank, int i, int round)
{
    return rank * 100003 + i * 7 + round;
}

static void bcast(MPI_Comm comm, int rank, int root, int n, int round)
{
    for (int i = 0; i < n; i++)
        recv[i] = rank == root ? value(root, i, round) : -1;
    MPI_Bcast(recv, n, MPI_INT, root, comm);
    for (int i = 0; i < n; i++)
        expect(recv[i], value(root, i, round), "bcast", n);
}

static void allgather(MPI_Comm comm, int rank, int size, int n, int round)
{
    int in_place = round % 2;
    memset(recv, 0, sizeof recv);
    for (int i = 0; i < n; i++)
        (in_place ? recv + rank * n : send)[i] = value(rank, i, round);
    MPI_Allgather(in_place ? MPI_IN_PLACE : send, n, MPI_INT, recv, n, MPI_INT,
                  comm);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++)
            expect(recv[r * n + i], value(r, i, round), "allgather", n);
}

static void allreduce(MPI_Comm comm, int rank, int size, int n, int round)
{
    int in_place = round % 2;
    for (int i = 0; i < n; i++)
        (in_place ? recv : send)[i] = value(rank, i, round);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, recv, n, MPI_INT,
                  round % 3 ? MPI_SUM : MPI_MAX, comm);
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int r = 0; r < size; r++)
            sum += value(r, i, round);
        expect(recv[i], round % 3 ? sum : value(size - 1, i, round),
               "allreduce", n);
    }
}

static void all(MPI_Comm comm, int round)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int c = 0; c < COUNTS; c++) {
        bcast(comm, rank, (round + c) % size, counts[c], round);
        allgather(comm, rank, size, counts[c], round);
        allreduce(comm, rank, size, counts[c], round);
        MPI_Barrier(comm);
    }
}

/* A message on the way of a collective: neither may wait for the other. */
static void among_messages(MPI_Comm comm)
{
    int rank, size, token = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, comm, MPI_STATUS_IGNORE);
    token++;
    if (rank + 1 < size)
        MPI_Ssend(&token, 1, MPI_INT, rank + 1, 1, comm);
    expect(token, rank + 1, "messages", size);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 1, rank;
    long total;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    alarm(120);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm part;
        all(MPI_COMM_WORLD, round);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
        all(part, round);
        among_messages(part);
        MPI_Comm_free(&part);
        among_messages(MPI_COMM_WORLD);
    }
    MPI_Reduce(&failures, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("%ld failures\n", total);
    MPI_Finalize();
    return failures != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that an MPI can leave to its network, with basic types, in
 * many sizes, on communicators that are made and freed. Data are checked.
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
static int send[MOST_RANKS * MOST], recv[MOST_RANKS * MOST];
static int sizes[MOST_RANKS], places[MOST_RANKS];

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

/* Blocks of rank r: of n elements, or of fewer or none, with gaps. */
static int varied(int r, int n)
{
    return r % 3 == 2 ? 0 : n / (r % 3 + 1);
}

static void vary(int size, int n)
{
    for (int r = 0; r < size; r++) {
        sizes[r] = varied(r, n);
        places[r] = r * n + n - sizes[r];
    }
}

static void fill(int *at, int rank, int n, int round)
{
    for (int i = 0; i < n; i++)
        at[i] = value(rank, i, round);
}

static void check(const int *at, int rank, int n, int round, const char *what)
{
    for (int i = 0; i < n; i++)
        expect(at[i], value(rank, i, round), what, n);
}

static void gather(MPI_Comm comm, int rank, int size, int root, int n,
                   int round)
{
    int in_place = round % 2 && rank == root;
    memset(recv, 0, sizeof recv);
    fill(in_place ? recv + rank * n : send, rank, n, round);
    MPI_Gather(in_place ? MPI_IN_PLACE : send, n, MPI_INT, recv, n, MPI_INT,
               root, comm);
    for (int r = 0; rank == root && r < size; r++)
        check(recv + r * n, r, n, round, "gather");
    vary(size, n);
    memset(recv, 0, sizeof recv);
    fill(in_place ? recv + places[rank] : send, rank, sizes[rank], round);
    MPI_Gatherv(in_place ? MPI_IN_PLACE : send, sizes[rank], MPI_INT, recv,
                sizes, places, MPI_INT, root, comm);
    for (int r = 0; rank == root && r < size; r++)
        check(recv + places[r], r, sizes[r], round, "gatherv");
}

static void scatter(MPI_Comm comm, int rank, int size, int root, int n,
                    int round)
{
    int in_place = round % 2 && rank == root;
    memset(recv, 0, sizeof recv);
    for (int r = 0; r < size; r++)
        fill(send + r * n, r, n, round);
    MPI_Scatter(send, n, MPI_INT, in_place ? MPI_IN_PLACE : recv, n, MPI_INT,
                root, comm);
    check(in_place ? send + rank * n : recv, rank, n, round, "scatter");
    vary(size, n);
    memset(recv, 0, sizeof recv);
    for (int r = 0; r < size; r++)
        fill(send + places[r], r, sizes[r], round);
    MPI_Scatterv(send, sizes, places, MPI_INT, in_place ? MPI_IN_PLACE : recv,
                 sizes[rank], MPI_INT, root, comm);
    check(in_place ? send + places[rank] : recv, rank, sizes[rank], round,
          "scatterv");
}

static void allgatherv(MPI_Comm comm, int rank, int size, int n, int round)
{
    int in_place = round % 2;
    vary(size, n);
    memset(recv, 0, sizeof recv);
    fill(in_place ? recv + places[rank] : send, rank, sizes[rank], round);
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : send, sizes[rank], MPI_INT, recv,
                   sizes, places, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        check(recv + places[r], r, sizes[r], round, "allgatherv");
}

/* Rank r sends what it and its target know. In an all-to-all of other sizes,
 * the block depends on the sum of both ranks. */
static void alltoall(MPI_Comm comm, int rank, int size, int n, int round)
{
    memset(recv, 0, sizeof recv);
    for (int r = 0; r < size; r++)
        fill(send + r * n, 17 * rank + r, n, round);
    MPI_Alltoall(send, n, MPI_INT, recv, n, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        check(recv + r * n, 17 * r + rank, n, round, "alltoall");
    memset(recv, 0, sizeof recv);
    for (int r = 0; r < size; r++) {
        sizes[r] = varied(r + rank, n);
        places[r] = r * n;
        fill(send + places[r], 17 * rank + r, sizes[r], round);
    }
    MPI_Alltoallv(send, sizes, places, MPI_INT, recv, sizes, places, MPI_INT,
                  comm);
    for (int r = 0; r < size; r++)
        check(recv + places[r], 17 * r + rank, sizes[r], round, "alltoallv");
}

static int sum_of(int size, int i, int round)
{
    int sum = 0;
    for (int r = 0; r < size; r++)
        sum += value(r, i, round);
    return sum;
}

static void reduce(MPI_Comm comm, int rank, int size, int root, int n,
                   int round)
{
    int in_place = round % 2 && rank == root, at = 0;
    fill(in_place ? recv : send, rank, n, round);
    MPI_Reduce(in_place ? MPI_IN_PLACE : send, recv, n, MPI_INT, MPI_SUM, root,
               comm);
    for (int i = 0; rank == root && i < n; i++)
        expect(recv[i], sum_of(size, i, round), "reduce", n);
    vary(size, n);
    for (int r = 0; r < size; r++)
        at += r < rank ? sizes[r] : 0;
    fill(send, rank, size * n, round);
    MPI_Reduce_scatter(send, recv, sizes, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < sizes[rank]; i++)
        expect(recv[i], sum_of(size, at + i, round), "reduce_scatter", n);
}

static void scans(MPI_Comm comm, int rank, int n, int round)
{
    fill(send, rank, n, round);
    MPI_Scan(send, recv, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; i++)
        expect(recv[i], sum_of(rank + 1, i, round), "scan", n);
    MPI_Exscan(send, recv, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; rank && i < n; i++)
        expect(recv[i], sum_of(rank, i, round), "exscan", n);
}

static void all(MPI_Comm comm, int round)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int c = 0; c < COUNTS; c++) {
        int n = counts[c], root = (round + c) % size;
        bcast(comm, rank, root, n, round);
        allgather(comm, rank, size, n, round);
        allreduce(comm, rank, size, n, round);
        MPI_Barrier(comm);
        gather(comm, rank, size, root, n, round);
        scatter(comm, rank, size, root, n, round);
        allgatherv(comm, rank, size, n, round);
        alltoall(comm, rank, size, n, round);
        reduce(comm, rank, size, root, n, round);
        scans(comm, rank, n, round);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a tool in it, like a profiler, that intercepts the functions
 * that complete requests and calls PMPI_ itself, past libdcoll_mpi. The data
 * must still be right. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INTS   4096
#define ROUNDS 12
#define RANKS  4

static int waits;

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    waits++;
    return PMPI_Wait(request, status);
}

static int mine[INTS], all[RANKS * INTS];

/* The last rank comes late: a wait that waits for nobody finds old data. */
static int round_is_right(int round, int rank, int size)
{
    MPI_Request request;
    for (int i = 0; i < INTS; i++)
        mine[i] = 1000 * round + rank;
    memset(all, 0, sizeof all);
    if (rank == size - 1)
        usleep(20000);
    MPI_Iallgather(mine, INTS, MPI_INT, all, INTS, MPI_INT, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size * INTS; i++)
        if (all[i] != 1000 * round + i / INTS)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    int rank, size, failures = 0, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 1; round <= ROUNDS; round++) {
        failures += !round_is_right(round, rank, size);
        MPI_Barrier(MPI_COMM_WORLD); /* in which it may be prepared */
    }
    failures += waits != ROUNDS;
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", sum);
    MPI_Finalize();
    return sum != 0;
}

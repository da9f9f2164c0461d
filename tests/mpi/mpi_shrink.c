/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is killed. The others get an error of the class for that, revoke the
 * communicator and shrink it (MPIX_Comm_shrink), and go on with the new one, on
 * which calls are taken again. Before that, a communicator that is shrunk while
 * all ranks live can still be used. Argument: the rank that is killed. Prints
 * "0 failures" if all of that is so.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { COUNT = 1000, CALLS = 50, SECONDS = 40 };

static int failures;

static void check(int rank, int good, const char *what)
{
    if (!good)
        fprintf(stderr, "rank %d: %s\n", rank, what);
    failures += !good;
}

/* Calls with results that are known. The first MPI error. */
static int work(MPI_Comm comm, int calls)
{
    int rank, size, mine[COUNT], all[COUNT], blocks[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int call = 0; call < calls; call++) {
        for (int i = 0; i < COUNT; i++)
            mine[i] = rank + i + call;
        int rc = MPI_Allreduce(mine, all, COUNT, MPI_INT, MPI_SUM, comm);
        if (rc)
            return rc;
        int good = 1;
        for (int i = 0; i < COUNT; i++)
            good &= all[i] == size * (i + call) + size * (size - 1) / 2;
        rc = MPI_Allgather(&call, 1, MPI_INT, blocks, 1, MPI_INT, comm);
        if (rc)
            return rc;
        for (int r = 0; r < size; r++)
            good &= blocks[r] == call;
        check(rank, good, "wrong data");
    }
    return MPI_SUCCESS;
}

static int is_told(int rc)
{
    int class;
    MPI_Error_class(rc, &class);
    return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
}

/* All ranks live. */
static void shrink_in_vain(int rank, MPI_Comm comm)
{
    MPI_Comm whole;
    int size, all;
    check(rank, MPIX_Comm_shrink(comm, &whole) == MPI_SUCCESS, "shrink");
    MPI_Comm_size(comm, &size);
    MPI_Comm_size(whole, &all);
    check(rank, all == size, "all ranks");
    check(rank, work(comm, CALLS) == MPI_SUCCESS, "the old one has ended");
    check(rank, work(whole, CALLS) == MPI_SUCCESS, "the new one has not begun");
    MPI_Comm_free(&whole);
}

int main(int argc, char **argv)
{
    int rank, size, left, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm, shrunk;
    MPI_Init(&argc, &argv);
    const int victim = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    alarm(SECONDS);
    check(rank, work(comm, CALLS) == MPI_SUCCESS, "error before");
    shrink_in_vain(rank, comm);
    if (rank == victim)
        raise(SIGKILL);
    int rc = work(comm, 1000000);
    MPI_Error_string(rc, text, &length);
    check(rank, is_told(rc), text);
    double began = MPI_Wtime();
    MPIX_Comm_revoke(comm);
    rc = MPIX_Comm_shrink(comm, &shrunk);
    check(rank, rc == MPI_SUCCESS, "MPIX_Comm_shrink");
    if (rc)
        _exit(1);
    MPI_Comm_set_errhandler(shrunk, MPI_ERRORS_RETURN);
    MPI_Comm_size(shrunk, &left);
    check(rank, left == size - 1, "other ranks");
    check(rank, work(shrunk, 1) == MPI_SUCCESS, "error behind");
    double took = MPI_Wtime() - began;
    check(rank, work(shrunk, CALLS) == MPI_SUCCESS, "error later");
    rc = MPI_Allreduce(&failures, &length, 1, MPI_INT, MPI_SUM, shrunk);
    MPI_Comm_rank(shrunk, &rank);
    if (rank == 0)
        printf("%d failures\nshrunk in %.3f s\n", rc ? 1 : length, took);
    fflush(stdout);
    MPI_Comm_free(&shrunk);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

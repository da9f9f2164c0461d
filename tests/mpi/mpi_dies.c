/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that dies before a collective: the others get an error soon, of which
 * their handler is told, and do not hang. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECONDS 10

static int told;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    told++;
}

int main(int argc, char **argv)
{
    int rank, size, length;
    char data[64] = "", all[64 * 64], text[MPI_MAX_ERROR_STRING];
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 3; i++) /* the fourth is ours, also in trials */
        MPI_Allgather(data, 64, MPI_BYTE, all, 64, MPI_BYTE, MPI_COMM_WORLD);
    if (rank == size - 1)
        raise(SIGKILL);
    double start = MPI_Wtime();
    int rc =
        MPI_Allgather(data, 64, MPI_BYTE, all, 64, MPI_BYTE, MPI_COMM_WORLD);
    if (rc != MPI_SUCCESS && told == 1 && MPI_Wtime() - start < SECONDS) {
        MPI_Error_string(rc, text, &length);
        fprintf(stderr, "rank %d: %s\n", rank, text);
    }
    fflush(stderr);
    _exit(rc == MPI_SUCCESS ? 0 : 5);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank dies before a collective. The other ranks must get an error soon, and
 * their error handlers be called. Argument: "begin" or "init": with
 * non-blocking or persistent collectives instead of blocking ones.
 */
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

static char data[64], all[64 * 64];

static int call(const char *how)
{
    static MPI_Request kept = MPI_REQUEST_NULL;
    MPI_Request request;
    if (!how)
        return MPI_Allgather(data, 64, MPI_BYTE, all, 64, MPI_BYTE,
                             MPI_COMM_WORLD);
    if (!strcmp(how, "init")) {
        if (kept == MPI_REQUEST_NULL)
            MPI_Allgather_init(data, 64, MPI_BYTE, all, 64, MPI_BYTE,
                               MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
        MPI_Start(&kept);
        return MPI_Wait(&kept, MPI_STATUS_IGNORE);
    }
    int rc = MPI_Iallgather(data, 64, MPI_BYTE, all, 64, MPI_BYTE,
                            MPI_COMM_WORLD, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* That another has died is known: no call is begun, made persistent, or waited
 * for at the end of a communicator that has had such. */
static int none_again(int persistent, MPI_Comm *copy)
{
    MPI_Request request;
    int before = told;
    int rc = MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (!persistent)
        return rc != MPI_SUCCESS && told == before + 1;
    if (rc != MPI_SUCCESS)
        rc = MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Comm_free(copy);
    return rc != MPI_SUCCESS && told == before + 2;
}

int main(int argc, char **argv)
{
    int rank, size, length;
    char text[MPI_MAX_ERROR_STRING];
    const char *how = argc > 1 ? argv[1] : NULL;
    int kept = how && !strcmp(how, "init");
    MPI_Request request;
    MPI_Errhandler handler;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 6; i++) /* libdcoll makes the seventh, also in trials */
        call(how);
    for (int i = 0; how && i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD); /* in which it may be prepared */
        call(how);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (kept)
        MPI_Barrier_init(copy, MPI_INFO_NULL, &request);
    if (rank == size - 1)
        raise(SIGKILL);
    alarm(2 * SECONDS);
    double start = MPI_Wtime();
    int rc = call(how);
    if (rc != MPI_SUCCESS && told == 1 && none_again(kept, &copy) &&
        MPI_Wtime() - start < SECONDS) {
        MPI_Error_string(rc, text, &length);
        fprintf(stderr, "rank %d: %s\n", rank, text);
    }
    fflush(stderr);
    _exit(rc == MPI_SUCCESS ? 0 : 5);
}

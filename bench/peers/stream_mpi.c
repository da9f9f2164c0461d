/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream of scripts/degrade-any over MPI_Isend and MPI_Irecv. */
#include <mpi.h>
#include <stdlib.h>

#include "run.h"
#include "stream.h"

typedef struct library {
    stream_t stream;
    int peer;
    MPI_Request requests[STREAM_SLOTS_MAX];
    char error[MPI_MAX_ERROR_STRING];
} library_t;

static int told(library_t *l, int code)
{
    int length;
    if (code == MPI_SUCCESS)
        return 1;
    if (MPI_Error_string(code, l->error, &length))
        snprintf(l->error, sizeof l->error, "error %d", code);
    for (char *at = l->error; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    return -1;
}

static int mpi_send(void *library, unsigned slot, size_t bytes)
{
    library_t *l = library;
    return told(l,
                MPI_Isend(stream_slot(&l->stream, slot), (int)bytes, MPI_BYTE,
                          l->peer, 0, MPI_COMM_WORLD, &l->requests[slot]));
}

static int mpi_receive(void *library, unsigned slot)
{
    library_t *l = library;
    return told(l, MPI_Irecv(stream_slot(&l->stream, slot),
                             (int)l->stream.stride, MPI_BYTE, l->peer, 0,
                             MPI_COMM_WORLD, &l->requests[slot]));
}

static int mpi_test(void *library, unsigned slot)
{
    library_t *l = library;
    int done;
    int rc = told(l, MPI_Test(&l->requests[slot], &done, MPI_STATUS_IGNORE));
    return rc < 0 ? rc : done;
}

static const char *mpi_error(void *library)
{
    return ((library_t *)library)->error;
}

static const stream_ops_t ops = {mpi_send, mpi_receive, mpi_test, mpi_error};

/* Receives that no message is for. */
static void cancel_rest(library_t *l)
{
    for (unsigned slot = 0; slot < l->stream.slots; slot++)
        if (l->stream.begun[slot]) {
            MPI_Cancel(&l->requests[slot]);
            MPI_Wait(&l->requests[slot], MPI_STATUS_IGNORE);
        }
}

int main(int argc, char **argv)
{
    library_t l = {0};
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, ranks, length;

    stream_parse(&l.stream, argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    l.peer = 1 - rank;
    l.stream.memory = run_buffer(stream_capacity(&l.stream));
    if (ranks != 2 || !l.stream.memory) {
        fprintf(stderr, "stream_mpi: %d ranks; allowed: 2, with memory\n",
                ranks);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Get_library_version(version, &length);
    if (rank == 0) {
        printf("# %s\n", version);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (stream_run(&l.stream, rank, &ops, &l))
        MPI_Abort(MPI_COMM_WORLD, 1);
    cancel_rest(&l);
    MPI_Finalize();
    free(l.stream.memory);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of Fortran that block. */
#include "mpi/calls/fortran.h"

static void make(struct layer_call a, fint *error)
{
    fortran_tell(error, layer_make(&a));
}

static void freed(int rc, MPI_Comm left, fint *comm, fint *error)
{
    if (!rc)
        *comm = TO_FORTRAN(Comm, left);
    fortran_tell(error, rc);
}

#pragma GCC visibility push(default)

FORTRAN(init, MPI_INIT, fint *error)
{
    fortran_tell(error, MPI_Init(NULL, NULL));
}

FORTRAN(init_thread, MPI_INIT_THREAD, fint *required, fint *provided,
        fint *error)
{
    fortran_tell(error, MPI_Init_thread(NULL, NULL, *required, provided));
}

FORTRAN(finalize, MPI_FINALIZE, fint *error)
{
    fortran_tell(error, MPI_Finalize());
}

FORTRAN(comm_free, MPI_COMM_FREE, fint *comm, fint *error)
{
    MPI_Comm own = fortran_comm(comm);
    int rc = MPI_Comm_free(&own);
    freed(rc, own, comm, error);
}

FORTRAN(comm_disconnect, MPI_COMM_DISCONNECT, fint *comm, fint *error)
{
    MPI_Comm own = fortran_comm(comm);
    int rc = MPI_Comm_disconnect(&own);
    freed(rc, own, comm, error);
}

FORTRAN(barrier, MPI_BARRIER, fint *comm, fint *error)
{
    make(call_barrier(fortran_comm(comm)), error);
}

#ifdef OPEN_MPI

FORTRAN(allgather, MPI_ALLGATHER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *comm, fint *error)
{
    make(fortran_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                        recv_count, recv_type, 0, comm),
         error);
}

FORTRAN(gather, MPI_GATHER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *root, fint *comm,
        fint *error)
{
    make(fortran_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                        recv_count, recv_type, *root, comm),
         error);
}

FORTRAN(scatter, MPI_SCATTER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *root, fint *comm,
        fint *error)
{
    make(fortran_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                        recv_count, recv_type, *root, comm),
         error);
}

FORTRAN(alltoall, MPI_ALLTOALL, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *comm, fint *error)
{
    make(fortran_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                        recv_count, recv_type, 0, comm),
         error);
}

FORTRAN(alltoallv, MPI_ALLTOALLV, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_counts,
        fint *recv_displs, fint *recv_type, fint *comm, fint *error)
{
    make(fortran_alltoallv(send, send_counts, send_displs, send_type, recv,
                           recv_counts, recv_displs, recv_type, comm),
         error);
}

FORTRAN(allgatherv, MPI_ALLGATHERV, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_counts, fint *recv_displs,
        fint *recv_type, fint *comm, fint *error)
{
    make(fortran_gatherv(LAYER_ALLGATHERV, send, send_count, send_type, recv,
                         recv_counts, recv_displs, recv_type, 0, comm),
         error);
}

FORTRAN(gatherv, MPI_GATHERV, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_counts, fint *recv_displs, fint *recv_type,
        fint *root, fint *comm, fint *error)
{
    make(fortran_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                         recv_counts, recv_displs, recv_type, *root, comm),
         error);
}

FORTRAN(scatterv, MPI_SCATTERV, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_count,
        fint *recv_type, fint *root, fint *comm, fint *error)
{
    make(fortran_scatterv(send, send_counts, send_displs, send_type, recv,
                          recv_count, recv_type, root, comm),
         error);
}

FORTRAN(bcast, MPI_BCAST, char *buffer, fint *count, fint *type, fint *root,
        fint *comm, fint *error)
{
    make(fortran_bcast(buffer, count, type, root, comm), error);
}

FORTRAN(allreduce, MPI_ALLREDUCE, char *send, char *recv, fint *count,
        fint *type, fint *op, fint *comm, fint *error)
{
    make(fortran_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm),
         error);
}

FORTRAN(reduce, MPI_REDUCE, char *send, char *recv, fint *count, fint *type,
        fint *op, fint *root, fint *comm, fint *error)
{
    make(fortran_reduce(DCOLL_REDUCE, send, recv, count, type, op, *root, comm),
         error);
}

#endif

#pragma GCC visibility pop

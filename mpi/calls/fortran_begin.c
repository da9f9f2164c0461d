/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of Fortran that do not block. */
#include "mpi/calls/fortran.h"

static void tell_begun(int rc, MPI_Request begun, fint *request, fint *error)
{
    if (!rc)
        *request = TO_FORTRAN(Request, begun);
    fortran_tell(error, rc);
}

static void begin(struct layer_call a, fint *request, fint *error)
{
    MPI_Request begun;
    int rc = start_call(&a, &begun);
    tell_begun(rc, begun, request, error);
}

static void init(struct layer_call a, const fint *info, fint *request,
                 fint *error)
{
    MPI_Request begun;
    int rc = start_init(&a, FROM_FORTRAN(Info, *info), &begun);
    tell_begun(rc, begun, request, error);
}

#pragma GCC visibility push(default)

FORTRAN(ibarrier, MPI_IBARRIER, fint *comm, fint *request, fint *error)
{
    begin(call_barrier(fortran_comm(comm)), request, error);
}

FORTRAN(barrier_init, MPI_BARRIER_INIT, fint *comm, fint *info, fint *request,
        fint *error)
{
    init(call_barrier(fortran_comm(comm)), info, request, error);
}

#ifdef OPEN_MPI

FORTRAN(iallgather, MPI_IALLGATHER, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_count, fint *recv_type,
        fint *comm, fint *request, fint *error)
{
    begin(fortran_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                         recv_count, recv_type, 0, comm),
          request, error);
}

FORTRAN(igather, MPI_IGATHER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *root, fint *comm,
        fint *request, fint *error)
{
    begin(fortran_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                         recv_count, recv_type, *root, comm),
          request, error);
}

FORTRAN(iscatter, MPI_ISCATTER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *root, fint *comm,
        fint *request, fint *error)
{
    begin(fortran_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                         recv_count, recv_type, *root, comm),
          request, error);
}

FORTRAN(ialltoall, MPI_IALLTOALL, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *comm,
        fint *request, fint *error)
{
    begin(fortran_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                         recv_count, recv_type, 0, comm),
          request, error);
}

FORTRAN(ialltoallv, MPI_IALLTOALLV, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_counts,
        fint *recv_displs, fint *recv_type, fint *comm, fint *request,
        fint *error)
{
    begin(fortran_alltoallv(send, send_counts, send_displs, send_type, recv,
                            recv_counts, recv_displs, recv_type, comm),
          request, error);
}

FORTRAN(iallgatherv, MPI_IALLGATHERV, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_counts, fint *recv_displs,
        fint *recv_type, fint *comm, fint *request, fint *error)
{
    begin(fortran_gatherv(LAYER_ALLGATHERV, send, send_count, send_type, recv,
                          recv_counts, recv_displs, recv_type, 0, comm),
          request, error);
}

FORTRAN(igatherv, MPI_IGATHERV, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_counts, fint *recv_displs, fint *recv_type,
        fint *root, fint *comm, fint *request, fint *error)
{
    begin(fortran_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                          recv_counts, recv_displs, recv_type, *root, comm),
          request, error);
}

FORTRAN(iscatterv, MPI_ISCATTERV, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_count,
        fint *recv_type, fint *root, fint *comm, fint *request, fint *error)
{
    begin(fortran_scatterv(send, send_counts, send_displs, send_type, recv,
                           recv_count, recv_type, root, comm),
          request, error);
}

FORTRAN(iallreduce, MPI_IALLREDUCE, char *send, char *recv, fint *count,
        fint *type, fint *op, fint *comm, fint *request, fint *error)
{
    begin(fortran_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm),
          request, error);
}

FORTRAN(ireduce, MPI_IREDUCE, char *send, char *recv, fint *count, fint *type,
        fint *op, fint *root, fint *comm, fint *request, fint *error)
{
    begin(
        fortran_reduce(DCOLL_REDUCE, send, recv, count, type, op, *root, comm),
        request, error);
}

FORTRAN(ibcast, MPI_IBCAST, char *buffer, fint *count, fint *type, fint *root,
        fint *comm, fint *request, fint *error)
{
    begin(fortran_bcast(buffer, count, type, root, comm), request, error);
}

FORTRAN(allgather_init, MPI_ALLGATHER_INIT, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_count, fint *recv_type,
        fint *comm, fint *info, fint *request, fint *error)
{
    init(fortran_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                        recv_count, recv_type, 0, comm),
         info, request, error);
}

FORTRAN(gather_init, MPI_GATHER_INIT, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_count, fint *recv_type,
        fint *root, fint *comm, fint *info, fint *request, fint *error)
{
    init(fortran_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                        recv_count, recv_type, *root, comm),
         info, request, error);
}

FORTRAN(scatter_init, MPI_SCATTER_INIT, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_count, fint *recv_type,
        fint *root, fint *comm, fint *info, fint *request, fint *error)
{
    init(fortran_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                        recv_count, recv_type, *root, comm),
         info, request, error);
}

FORTRAN(alltoall_init, MPI_ALLTOALL_INIT, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_count, fint *recv_type,
        fint *comm, fint *info, fint *request, fint *error)
{
    init(fortran_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                        recv_count, recv_type, 0, comm),
         info, request, error);
}

FORTRAN(alltoallv_init, MPI_ALLTOALLV_INIT, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_counts,
        fint *recv_displs, fint *recv_type, fint *comm, fint *info,
        fint *request, fint *error)
{
    init(fortran_alltoallv(send, send_counts, send_displs, send_type, recv,
                           recv_counts, recv_displs, recv_type, comm),
         info, request, error);
}

FORTRAN(allgatherv_init, MPI_ALLGATHERV_INIT, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_counts, fint *recv_displs,
        fint *recv_type, fint *comm, fint *info, fint *request, fint *error)
{
    init(fortran_gatherv(LAYER_ALLGATHERV, send, send_count, send_type, recv,
                         recv_counts, recv_displs, recv_type, 0, comm),
         info, request, error);
}

FORTRAN(gatherv_init, MPI_GATHERV_INIT, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_counts, fint *recv_displs,
        fint *recv_type, fint *root, fint *comm, fint *info, fint *request,
        fint *error)
{
    init(fortran_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                         recv_counts, recv_displs, recv_type, *root, comm),
         info, request, error);
}

FORTRAN(scatterv_init, MPI_SCATTERV_INIT, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_count,
        fint *recv_type, fint *root, fint *comm, fint *info, fint *request,
        fint *error)
{
    init(fortran_scatterv(send, send_counts, send_displs, send_type, recv,
                          recv_count, recv_type, root, comm),
         info, request, error);
}

FORTRAN(allreduce_init, MPI_ALLREDUCE_INIT, char *send, char *recv, fint *count,
        fint *type, fint *op, fint *comm, fint *info, fint *request,
        fint *error)
{
    init(fortran_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm),
         info, request, error);
}

FORTRAN(reduce_init, MPI_REDUCE_INIT, char *send, char *recv, fint *count,
        fint *type, fint *op, fint *root, fint *comm, fint *info, fint *request,
        fint *error)
{
    init(fortran_reduce(DCOLL_REDUCE, send, recv, count, type, op, *root, comm),
         info, request, error);
}

FORTRAN(bcast_init, MPI_BCAST_INIT, char *buffer, fint *count, fint *type,
        fint *root, fint *comm, fint *info, fint *request, fint *error)
{
    init(fortran_bcast(buffer, count, type, root, comm), info, request, error);
}

#endif

#pragma GCC visibility pop

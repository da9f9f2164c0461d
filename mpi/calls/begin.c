/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that do not block: MPI_I... and, of MPI 4, MPI_..._init. */
#include "mpi/requests/requests.h"

static int begin(struct layer_call a, MPI_Request *request)
{
    return start_call(&a, request);
}

static int init(struct layer_call a, MPI_Info info, MPI_Request *request)
{
    return start_init(&a, info, request);
}

#pragma GCC visibility push(default)

int MPI_Iallgather(const void *send, int send_count, MPI_Datatype send_type,
                   void *recv, int recv_count, MPI_Datatype recv_type,
                   MPI_Comm comm, MPI_Request *request)
{
    return begin(call_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                             recv_count, recv_type, 0, comm),
                 request);
}

int MPI_Igather(const void *send, int send_count, MPI_Datatype send_type,
                void *recv, int recv_count, MPI_Datatype recv_type, int root,
                MPI_Comm comm, MPI_Request *request)
{
    return begin(call_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                             recv_count, recv_type, root, comm),
                 request);
}

int MPI_Iscatter(const void *send, int send_count, MPI_Datatype send_type,
                 void *recv, int recv_count, MPI_Datatype recv_type, int root,
                 MPI_Comm comm, MPI_Request *request)
{
    return begin(call_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                             recv_count, recv_type, root, comm),
                 request);
}

int MPI_Ialltoall(const void *send, int send_count, MPI_Datatype send_type,
                  void *recv, int recv_count, MPI_Datatype recv_type,
                  MPI_Comm comm, MPI_Request *request)
{
    return begin(call_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                             recv_count, recv_type, 0, comm),
                 request);
}

int MPI_Ialltoallv(const void *send, const int *send_counts,
                   const int *send_displs, MPI_Datatype send_type, void *recv,
                   const int *recv_counts, const int *recv_displs,
                   MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request)
{
    return begin(call_alltoallv(send, send_counts, send_displs, send_type, recv,
                                recv_counts, recv_displs, recv_type, comm),
                 request);
}

int MPI_Iallgatherv(const void *send, int send_count, MPI_Datatype send_type,
                    void *recv, const int *recv_counts, const int *recv_displs,
                    MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request)
{
    return begin(call_gatherv(LAYER_ALLGATHERV, send, send_count, send_type,
                              recv, recv_counts, recv_displs, recv_type, 0,
                              comm),
                 request);
}

int MPI_Igatherv(const void *send, int send_count, MPI_Datatype send_type,
                 void *recv, const int *recv_counts, const int *recv_displs,
                 MPI_Datatype recv_type, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    return begin(call_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                              recv_counts, recv_displs, recv_type, root, comm),
                 request);
}

int MPI_Iscatterv(const void *send, const int *send_counts,
                  const int *send_displs, MPI_Datatype send_type, void *recv,
                  int recv_count, MPI_Datatype recv_type, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    return begin(call_scatterv(send, send_counts, send_displs, send_type, recv,
                               recv_count, recv_type, root, comm),
                 request);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root,
               MPI_Comm comm, MPI_Request *request)
{
    return begin(call_bcast(buffer, count, type, root, comm), request);
}

int MPI_Iallreduce(const void *send, void *recv, int count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return begin(
        call_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm),
        request);
}

int MPI_Ireduce(const void *send, void *recv, int count, MPI_Datatype type,
                MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    return begin(
        call_reduce(DCOLL_REDUCE, send, recv, count, type, op, root, comm),
        request);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return begin(call_barrier(comm), request);
}

int MPI_Allgather_init(const void *send, int send_count, MPI_Datatype send_type,
                       void *recv, int recv_count, MPI_Datatype recv_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm),
                info, request);
}

int MPI_Gather_init(const void *send, int send_count, MPI_Datatype send_type,
                    void *recv, int recv_count, MPI_Datatype recv_type,
                    int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request)
{
    return init(call_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm),
                info, request);
}

int MPI_Scatter_init(const void *send, int send_count, MPI_Datatype send_type,
                     void *recv, int recv_count, MPI_Datatype recv_type,
                     int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    return init(call_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm),
                info, request);
}

int MPI_Alltoall_init(const void *send, int send_count, MPI_Datatype send_type,
                      void *recv, int recv_count, MPI_Datatype recv_type,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm),
                info, request);
}

int MPI_Alltoallv_init(const void *send, const int *send_counts,
                       const int *send_displs, MPI_Datatype send_type,
                       void *recv, const int *recv_counts,
                       const int *recv_displs, MPI_Datatype recv_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_alltoallv(send, send_counts, send_displs, send_type, recv,
                               recv_counts, recv_displs, recv_type, comm),
                info, request);
}

int MPI_Allgatherv_init(const void *send, int send_count,
                        MPI_Datatype send_type, void *recv,
                        const int *recv_counts, const int *recv_displs,
                        MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return init(call_gatherv(LAYER_ALLGATHERV, send, send_count, send_type,
                             recv, recv_counts, recv_displs, recv_type, 0,
                             comm),
                info, request);
}

int MPI_Gatherv_init(const void *send, int send_count, MPI_Datatype send_type,
                     void *recv, const int *recv_counts, const int *recv_displs,
                     MPI_Datatype recv_type, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request)
{
    return init(call_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                             recv_counts, recv_displs, recv_type, root, comm),
                info, request);
}

int MPI_Scatterv_init(const void *send, const int *send_counts,
                      const int *send_displs, MPI_Datatype send_type,
                      void *recv, int recv_count, MPI_Datatype recv_type,
                      int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    return init(call_scatterv(send, send_counts, send_displs, send_type, recv,
                              recv_count, recv_type, root, comm),
                info, request);
}

int MPI_Bcast_init(void *buffer, int count, MPI_Datatype type, int root,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_bcast(buffer, count, type, root, comm), info, request);
}

int MPI_Allreduce_init(const void *send, void *recv, int count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    return init(
        call_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm),
        info, request);
}

int MPI_Reduce_init(const void *send, void *recv, int count, MPI_Datatype type,
                    MPI_Op op, int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request)
{
    return init(
        call_reduce(DCOLL_REDUCE, send, recv, count, type, op, root, comm),
        info, request);
}

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_barrier(comm), info, request);
}

#pragma GCC visibility pop

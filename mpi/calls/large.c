/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI 4 whose counts may be more than an int, of all forms. They
 * are taken where the bytes are not too many for the others. Those that do not
 * block and have counts for each rank (MPI_Ialltoallv_c) are left: a rank knows
 * its own counts only, and may not wait for those of the others.
 */
#include "mpi/requests/requests.h"

#if MPI_VERSION >= 4

static int make(struct layer_call a)
{
    a.large = true;
    return layer_make(&a);
}

static int begin(struct layer_call a, MPI_Request *request)
{
    a.large = true;
    return start_call(&a, request);
}

static int init(struct layer_call a, MPI_Info info, MPI_Request *request)
{
    a.large = true;
    return start_init(&a, info, request);
}

#pragma GCC visibility push(default)

int MPI_Allgather_c(const void *send, MPI_Count send_count,
                    MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                    MPI_Datatype recv_type, MPI_Comm comm)
{
    return make(call_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm));
}

int MPI_Gather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type,
                 int root, MPI_Comm comm)
{
    return make(call_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm));
}

int MPI_Scatter_c(const void *send, MPI_Count send_count,
                  MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                  MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    return make(call_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm));
}

int MPI_Alltoall_c(const void *send, MPI_Count send_count,
                   MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                   MPI_Datatype recv_type, MPI_Comm comm)
{
    return make(call_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm));
}

int MPI_Alltoallv_c(const void *send, const MPI_Count *send_counts,
                    const MPI_Aint *send_displs, MPI_Datatype send_type,
                    void *recv, const MPI_Count *recv_counts,
                    const MPI_Aint *recv_displs, MPI_Datatype recv_type,
                    MPI_Comm comm)
{
    return make(call_alltoallv(send, send_counts, send_displs, send_type, recv,
                               recv_counts, recv_displs, recv_type, comm));
}

int MPI_Allgatherv_c(const void *send, MPI_Count send_count,
                     MPI_Datatype send_type, void *recv,
                     const MPI_Count *recv_counts, const MPI_Aint *recv_displs,
                     MPI_Datatype recv_type, MPI_Comm comm)
{
    return make(call_gatherv(LAYER_ALLGATHERV, send, send_count, send_type,
                             recv, recv_counts, recv_displs, recv_type, 0,
                             comm));
}

int MPI_Gatherv_c(const void *send, MPI_Count send_count,
                  MPI_Datatype send_type, void *recv,
                  const MPI_Count *recv_counts, const MPI_Aint *recv_displs,
                  MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    return make(call_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                             recv_counts, recv_displs, recv_type, root, comm));
}

int MPI_Scatterv_c(const void *send, const MPI_Count *send_counts,
                   const MPI_Aint *send_displs, MPI_Datatype send_type,
                   void *recv, MPI_Count recv_count, MPI_Datatype recv_type,
                   int root, MPI_Comm comm)
{
    return make(call_scatterv(send, send_counts, send_displs, send_type, recv,
                              recv_count, recv_type, root, comm));
}

int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                MPI_Comm comm)
{
    return make(call_bcast(buffer, count, type, root, comm));
}

int MPI_Allreduce_c(const void *send, void *recv, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return make(
        call_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm));
}

int MPI_Reduce_c(const void *send, void *recv, MPI_Count count,
                 MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    return make(
        call_reduce(DCOLL_REDUCE, send, recv, count, type, op, root, comm));
}

int MPI_Iallgather_c(const void *send, MPI_Count send_count,
                     MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                     MPI_Datatype recv_type, MPI_Comm comm,
                     MPI_Request *request)
{
    return begin(call_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                             recv_count, recv_type, 0, comm),
                 request);
}

int MPI_Igather_c(const void *send, MPI_Count send_count,
                  MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                  MPI_Datatype recv_type, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return begin(call_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                             recv_count, recv_type, root, comm),
                 request);
}

int MPI_Iscatter_c(const void *send, MPI_Count send_count,
                   MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                   MPI_Datatype recv_type, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    return begin(call_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                             recv_count, recv_type, root, comm),
                 request);
}

int MPI_Ialltoall_c(const void *send, MPI_Count send_count,
                    MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                    MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request)
{
    return begin(call_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                             recv_count, recv_type, 0, comm),
                 request);
}

int MPI_Iallreduce_c(const void *send, void *recv, MPI_Count count,
                     MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Request *request)
{
    return begin(
        call_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm),
        request);
}

int MPI_Ireduce_c(const void *send, void *recv, MPI_Count count,
                  MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return begin(
        call_reduce(DCOLL_REDUCE, send, recv, count, type, op, root, comm),
        request);
}

int MPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                 MPI_Comm comm, MPI_Request *request)
{
    return begin(call_bcast(buffer, count, type, root, comm), request);
}

int MPI_Allgather_init_c(const void *send, MPI_Count send_count,
                         MPI_Datatype send_type, void *recv,
                         MPI_Count recv_count, MPI_Datatype recv_type,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm),
                info, request);
}

int MPI_Gather_init_c(const void *send, MPI_Count send_count,
                      MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                      MPI_Datatype recv_type, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    return init(call_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm),
                info, request);
}

int MPI_Scatter_init_c(const void *send, MPI_Count send_count,
                       MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                       MPI_Datatype recv_type, int root, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request)
{
    return init(call_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm),
                info, request);
}

int MPI_Alltoall_init_c(const void *send, MPI_Count send_count,
                        MPI_Datatype send_type, void *recv,
                        MPI_Count recv_count, MPI_Datatype recv_type,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm),
                info, request);
}

int MPI_Alltoallv_init_c(const void *send, const MPI_Count *send_counts,
                         const MPI_Aint *send_displs, MPI_Datatype send_type,
                         void *recv, const MPI_Count *recv_counts,
                         const MPI_Aint *recv_displs, MPI_Datatype recv_type,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_alltoallv(send, send_counts, send_displs, send_type, recv,
                               recv_counts, recv_displs, recv_type, comm),
                info, request);
}

int MPI_Allgatherv_init_c(const void *send, MPI_Count send_count,
                          MPI_Datatype send_type, void *recv,
                          const MPI_Count *recv_counts,
                          const MPI_Aint *recv_displs, MPI_Datatype recv_type,
                          MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_gatherv(LAYER_ALLGATHERV, send, send_count, send_type,
                             recv, recv_counts, recv_displs, recv_type, 0,
                             comm),
                info, request);
}

int MPI_Gatherv_init_c(const void *send, MPI_Count send_count,
                       MPI_Datatype send_type, void *recv,
                       const MPI_Count *recv_counts,
                       const MPI_Aint *recv_displs, MPI_Datatype recv_type,
                       int root, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    return init(call_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                             recv_counts, recv_displs, recv_type, root, comm),
                info, request);
}

int MPI_Scatterv_init_c(const void *send, const MPI_Count *send_counts,
                        const MPI_Aint *send_displs, MPI_Datatype send_type,
                        void *recv, MPI_Count recv_count,
                        MPI_Datatype recv_type, int root, MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    return init(call_scatterv(send, send_counts, send_displs, send_type, recv,
                              recv_count, recv_type, root, comm),
                info, request);
}

int MPI_Allreduce_init_c(const void *send, void *recv, MPI_Count count,
                         MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    return init(
        call_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm),
        info, request);
}

int MPI_Reduce_init_c(const void *send, void *recv, MPI_Count count,
                      MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    return init(
        call_reduce(DCOLL_REDUCE, send, recv, count, type, op, root, comm),
        info, request);
}

int MPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                     MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return init(call_bcast(buffer, count, type, root, comm), info, request);
}

#pragma GCC visibility pop

#endif

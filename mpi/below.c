/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that do not block, by the MPI below. */
#include "requests.h"

/* Of MPI 4: headers of before do not have them, and neither do programs. */
int PMPI_Allgather_init(const void *, int, MPI_Datatype, void *, int,
                        MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Gather_init(const void *, int, MPI_Datatype, void *, int, MPI_Datatype,
                     int, MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Scatter_init(const void *, int, MPI_Datatype, void *, int,
                      MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Alltoall_init(const void *, int, MPI_Datatype, void *, int,
                       MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Bcast_init(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info,
                    MPI_Request *);
int PMPI_Allreduce_init(const void *, void *, int, MPI_Datatype, MPI_Op,
                        MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Reduce_init(const void *, void *, int, MPI_Datatype, MPI_Op, int,
                     MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Barrier_init(MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Alltoallv_init(const void *, const int[], const int[], MPI_Datatype,
                        void *, const int[], const int[], MPI_Datatype,
                        MPI_Comm, MPI_Info, MPI_Request *);
int PMPI_Allgatherv_init(const void *, int, MPI_Datatype, void *, const int[],
                         const int[], MPI_Datatype, MPI_Comm, MPI_Info,
                         MPI_Request *);
int PMPI_Gatherv_init(const void *, int, MPI_Datatype, void *, const int[],
                      const int[], MPI_Datatype, int, MPI_Comm, MPI_Info,
                      MPI_Request *);
int PMPI_Scatterv_init(const void *, const int[], const int[], MPI_Datatype,
                       void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info,
                       MPI_Request *);

int below_begin(const struct layer_call *a, MPI_Request *request)
{
    int send_count = (int)a->send_count, recv_count = (int)a->recv_count;
#if MPI_VERSION >= 4
    if (a->large)
        return large_below_begin(a, request);
#endif
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return PMPI_Iallgather(a->send, send_count, a->send_type, a->recv,
                               recv_count, a->recv_type, a->comm, request);
    case DCOLL_GATHER:
        return PMPI_Igather(a->send, send_count, a->send_type, a->recv,
                            recv_count, a->recv_type, a->root, a->comm,
                            request);
    case DCOLL_SCATTER:
        return PMPI_Iscatter(a->send, send_count, a->send_type, a->recv,
                             recv_count, a->recv_type, a->root, a->comm,
                             request);
    case DCOLL_ALLTOALL:
        return PMPI_Ialltoall(a->send, send_count, a->send_type, a->recv,
                              recv_count, a->recv_type, a->comm, request);
    case DCOLL_ALLTOALLV:
        return PMPI_Ialltoallv(a->send, a->send_counts, a->send_displs,
                               a->send_type, a->recv, a->recv_counts,
                               a->recv_displs, a->recv_type, a->comm, request);
    case LAYER_ALLGATHERV:
        return PMPI_Iallgatherv(a->send, send_count, a->send_type, a->recv,
                                a->recv_counts, a->recv_displs, a->recv_type,
                                a->comm, request);
    case LAYER_GATHERV:
        return PMPI_Igatherv(a->send, send_count, a->send_type, a->recv,
                             a->recv_counts, a->recv_displs, a->recv_type,
                             a->root, a->comm, request);
    case LAYER_SCATTERV:
        return PMPI_Iscatterv(a->send, a->send_counts, a->send_displs,
                              a->send_type, a->recv, recv_count, a->recv_type,
                              a->root, a->comm, request);
    case DCOLL_BCAST:
        return PMPI_Ibcast(a->recv, recv_count, a->recv_type, a->root, a->comm,
                           request);
    case DCOLL_ALLREDUCE:
        return PMPI_Iallreduce(a->send, a->recv, recv_count, a->recv_type,
                               a->op, a->comm, request);
    case DCOLL_REDUCE:
        return PMPI_Ireduce(a->send, a->recv, recv_count, a->recv_type, a->op,
                            a->root, a->comm, request);
    default:
        return PMPI_Ibarrier(a->comm, request);
    }
}

int below_init(const struct layer_call *a, MPI_Info info, MPI_Request *request)
{
    int send_count = (int)a->send_count, recv_count = (int)a->recv_count;
#if MPI_VERSION >= 4
    if (a->large)
        return large_below_init(a, info, request);
#endif
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return PMPI_Allgather_init(a->send, send_count, a->send_type, a->recv,
                                   recv_count, a->recv_type, a->comm, info,
                                   request);
    case DCOLL_GATHER:
        return PMPI_Gather_init(a->send, send_count, a->send_type, a->recv,
                                recv_count, a->recv_type, a->root, a->comm,
                                info, request);
    case DCOLL_SCATTER:
        return PMPI_Scatter_init(a->send, send_count, a->send_type, a->recv,
                                 recv_count, a->recv_type, a->root, a->comm,
                                 info, request);
    case DCOLL_ALLTOALL:
        return PMPI_Alltoall_init(a->send, send_count, a->send_type, a->recv,
                                  recv_count, a->recv_type, a->comm, info,
                                  request);
    case DCOLL_ALLTOALLV:
        return PMPI_Alltoallv_init(a->send, a->send_counts, a->send_displs,
                                   a->send_type, a->recv, a->recv_counts,
                                   a->recv_displs, a->recv_type, a->comm, info,
                                   request);
    case LAYER_ALLGATHERV:
        return PMPI_Allgatherv_init(a->send, send_count, a->send_type, a->recv,
                                    a->recv_counts, a->recv_displs,
                                    a->recv_type, a->comm, info, request);
    case LAYER_GATHERV:
        return PMPI_Gatherv_init(a->send, send_count, a->send_type, a->recv,
                                 a->recv_counts, a->recv_displs, a->recv_type,
                                 a->root, a->comm, info, request);
    case LAYER_SCATTERV:
        return PMPI_Scatterv_init(
            a->send, a->send_counts, a->send_displs, a->send_type, a->recv,
            recv_count, a->recv_type, a->root, a->comm, info, request);
    case DCOLL_BCAST:
        return PMPI_Bcast_init(a->recv, recv_count, a->recv_type, a->root,
                               a->comm, info, request);
    case DCOLL_ALLREDUCE:
        return PMPI_Allreduce_init(a->send, a->recv, recv_count, a->recv_type,
                                   a->op, a->comm, info, request);
    case DCOLL_REDUCE:
        return PMPI_Reduce_init(a->send, a->recv, recv_count, a->recv_type,
                                a->op, a->root, a->comm, info, request);
    default:
        return PMPI_Barrier_init(a->comm, info, request);
    }
}

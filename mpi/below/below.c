/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that do not block, by the MPI below. */
#include "mpi/requests/requests.h"

int below_begin(const struct layer_call *a, MPI_Request *request)
{
    int send_count = (int)a->send_count, recv_count = (int)a->recv_count;
#if MPI_VERSION >= 4
    if (a->large)
        return large_below_begin(a, request);
#endif
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return pmpi.Iallgather(a->send, send_count, a->send_type, a->recv,
                               recv_count, a->recv_type, a->comm, request);
    case DCOLL_GATHER:
        return pmpi.Igather(a->send, send_count, a->send_type, a->recv,
                            recv_count, a->recv_type, a->root, a->comm,
                            request);
    case DCOLL_SCATTER:
        return pmpi.Iscatter(a->send, send_count, a->send_type, a->recv,
                             recv_count, a->recv_type, a->root, a->comm,
                             request);
    case DCOLL_ALLTOALL:
        return pmpi.Ialltoall(a->send, send_count, a->send_type, a->recv,
                              recv_count, a->recv_type, a->comm, request);
    case DCOLL_ALLTOALLV:
        return pmpi.Ialltoallv(a->send, a->send_counts, a->send_displs,
                               a->send_type, a->recv, a->recv_counts,
                               a->recv_displs, a->recv_type, a->comm, request);
    case LAYER_ALLGATHERV:
        return pmpi.Iallgatherv(a->send, send_count, a->send_type, a->recv,
                                a->recv_counts, a->recv_displs, a->recv_type,
                                a->comm, request);
    case LAYER_GATHERV:
        return pmpi.Igatherv(a->send, send_count, a->send_type, a->recv,
                             a->recv_counts, a->recv_displs, a->recv_type,
                             a->root, a->comm, request);
    case LAYER_SCATTERV:
        return pmpi.Iscatterv(a->send, a->send_counts, a->send_displs,
                              a->send_type, a->recv, recv_count, a->recv_type,
                              a->root, a->comm, request);
    case DCOLL_BCAST:
        return pmpi.Ibcast(a->recv, recv_count, a->recv_type, a->root, a->comm,
                           request);
    case DCOLL_ALLREDUCE:
        return pmpi.Iallreduce(a->send, a->recv, recv_count, a->recv_type,
                               a->op, a->comm, request);
    case DCOLL_REDUCE:
        return pmpi.Ireduce(a->send, a->recv, recv_count, a->recv_type, a->op,
                            a->root, a->comm, request);
    default:
        return pmpi.Ibarrier(a->comm, request);
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
        return pmpi.Allgather_init(a->send, send_count, a->send_type, a->recv,
                                   recv_count, a->recv_type, a->comm, info,
                                   request);
    case DCOLL_GATHER:
        return pmpi.Gather_init(a->send, send_count, a->send_type, a->recv,
                                recv_count, a->recv_type, a->root, a->comm,
                                info, request);
    case DCOLL_SCATTER:
        return pmpi.Scatter_init(a->send, send_count, a->send_type, a->recv,
                                 recv_count, a->recv_type, a->root, a->comm,
                                 info, request);
    case DCOLL_ALLTOALL:
        return pmpi.Alltoall_init(a->send, send_count, a->send_type, a->recv,
                                  recv_count, a->recv_type, a->comm, info,
                                  request);
    case DCOLL_ALLTOALLV:
        return pmpi.Alltoallv_init(a->send, a->send_counts, a->send_displs,
                                   a->send_type, a->recv, a->recv_counts,
                                   a->recv_displs, a->recv_type, a->comm, info,
                                   request);
    case LAYER_ALLGATHERV:
        return pmpi.Allgatherv_init(a->send, send_count, a->send_type, a->recv,
                                    a->recv_counts, a->recv_displs,
                                    a->recv_type, a->comm, info, request);
    case LAYER_GATHERV:
        return pmpi.Gatherv_init(a->send, send_count, a->send_type, a->recv,
                                 a->recv_counts, a->recv_displs, a->recv_type,
                                 a->root, a->comm, info, request);
    case LAYER_SCATTERV:
        return pmpi.Scatterv_init(
            a->send, a->send_counts, a->send_displs, a->send_type, a->recv,
            recv_count, a->recv_type, a->root, a->comm, info, request);
    case DCOLL_BCAST:
        return pmpi.Bcast_init(a->recv, recv_count, a->recv_type, a->root,
                               a->comm, info, request);
    case DCOLL_ALLREDUCE:
        return pmpi.Allreduce_init(a->send, a->recv, recv_count, a->recv_type,
                                   a->op, a->comm, info, request);
    case DCOLL_REDUCE:
        return pmpi.Reduce_init(a->send, a->recv, recv_count, a->recv_type,
                                a->op, a->root, a->comm, info, request);
    default:
        return pmpi.Barrier_init(a->comm, info, request);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with large counts, by the MPI below. */
#include "mpi/requests/requests.h"

#if MPI_VERSION >= 4

int large_below(const struct layer_call *a)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return pmpi.Allgather_c(a->send, a->send_count, a->send_type, a->recv,
                                a->recv_count, a->recv_type, a->comm);
    case DCOLL_GATHER:
        return pmpi.Gather_c(a->send, a->send_count, a->send_type, a->recv,
                             a->recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_SCATTER:
        return pmpi.Scatter_c(a->send, a->send_count, a->send_type, a->recv,
                              a->recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_ALLTOALL:
        return pmpi.Alltoall_c(a->send, a->send_count, a->send_type, a->recv,
                               a->recv_count, a->recv_type, a->comm);
    case DCOLL_ALLTOALLV:
        return pmpi.Alltoallv_c(a->send, a->send_counts, a->send_displs,
                                a->send_type, a->recv, a->recv_counts,
                                a->recv_displs, a->recv_type, a->comm);
    case LAYER_ALLGATHERV:
        return pmpi.Allgatherv_c(a->send, a->send_count, a->send_type, a->recv,
                                 a->recv_counts, a->recv_displs, a->recv_type,
                                 a->comm);
    case LAYER_GATHERV:
        return pmpi.Gatherv_c(a->send, a->send_count, a->send_type, a->recv,
                              a->recv_counts, a->recv_displs, a->recv_type,
                              a->root, a->comm);
    case LAYER_SCATTERV:
        return pmpi.Scatterv_c(a->send, a->send_counts, a->send_displs,
                               a->send_type, a->recv, a->recv_count,
                               a->recv_type, a->root, a->comm);
    case DCOLL_BCAST:
        return pmpi.Bcast_c(a->recv, a->recv_count, a->recv_type, a->root,
                            a->comm);
    case DCOLL_ALLREDUCE:
        return pmpi.Allreduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                                a->op, a->comm);
    default:
        return pmpi.Reduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                             a->op, a->root, a->comm);
    }
}

int large_below_begin(const struct layer_call *a, MPI_Request *request)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return pmpi.Iallgather_c(a->send, a->send_count, a->send_type, a->recv,
                                 a->recv_count, a->recv_type, a->comm, request);
    case DCOLL_GATHER:
        return pmpi.Igather_c(a->send, a->send_count, a->send_type, a->recv,
                              a->recv_count, a->recv_type, a->root, a->comm,
                              request);
    case DCOLL_SCATTER:
        return pmpi.Iscatter_c(a->send, a->send_count, a->send_type, a->recv,
                               a->recv_count, a->recv_type, a->root, a->comm,
                               request);
    case DCOLL_ALLTOALL:
        return pmpi.Ialltoall_c(a->send, a->send_count, a->send_type, a->recv,
                                a->recv_count, a->recv_type, a->comm, request);
    case DCOLL_ALLREDUCE:
        return pmpi.Iallreduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                                 a->op, a->comm, request);
    case DCOLL_REDUCE:
        return pmpi.Ireduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                              a->op, a->root, a->comm, request);
    default:
        return pmpi.Ibcast_c(a->recv, a->recv_count, a->recv_type, a->root,
                             a->comm, request);
    }
}

int large_below_init(const struct layer_call *a, MPI_Info info,
                     MPI_Request *request)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return pmpi.Allgather_init_c(a->send, a->send_count, a->send_type,
                                     a->recv, a->recv_count, a->recv_type,
                                     a->comm, info, request);
    case DCOLL_GATHER:
        return pmpi.Gather_init_c(a->send, a->send_count, a->send_type, a->recv,
                                  a->recv_count, a->recv_type, a->root, a->comm,
                                  info, request);
    case DCOLL_SCATTER:
        return pmpi.Scatter_init_c(a->send, a->send_count, a->send_type,
                                   a->recv, a->recv_count, a->recv_type,
                                   a->root, a->comm, info, request);
    case DCOLL_ALLTOALL:
        return pmpi.Alltoall_init_c(a->send, a->send_count, a->send_type,
                                    a->recv, a->recv_count, a->recv_type,
                                    a->comm, info, request);
    case DCOLL_ALLTOALLV:
        return pmpi.Alltoallv_init_c(a->send, a->send_counts, a->send_displs,
                                     a->send_type, a->recv, a->recv_counts,
                                     a->recv_displs, a->recv_type, a->comm,
                                     info, request);
    case LAYER_ALLGATHERV:
        return pmpi.Allgatherv_init_c(a->send, a->send_count, a->send_type,
                                      a->recv, a->recv_counts, a->recv_displs,
                                      a->recv_type, a->comm, info, request);
    case LAYER_GATHERV:
        return pmpi.Gatherv_init_c(
            a->send, a->send_count, a->send_type, a->recv, a->recv_counts,
            a->recv_displs, a->recv_type, a->root, a->comm, info, request);
    case LAYER_SCATTERV:
        return pmpi.Scatterv_init_c(
            a->send, a->send_counts, a->send_displs, a->send_type, a->recv,
            a->recv_count, a->recv_type, a->root, a->comm, info, request);
    case DCOLL_ALLREDUCE:
        return pmpi.Allreduce_init_c(a->send, a->recv, a->recv_count,
                                     a->recv_type, a->op, a->comm, info,
                                     request);
    case DCOLL_REDUCE:
        return pmpi.Reduce_init_c(a->send, a->recv, a->recv_count, a->recv_type,
                                  a->op, a->root, a->comm, info, request);
    default:
        return pmpi.Bcast_init_c(a->recv, a->recv_count, a->recv_type, a->root,
                                 a->comm, info, request);
    }
}

#endif

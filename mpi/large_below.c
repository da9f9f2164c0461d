/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with large counts, by the MPI below. */
#include "requests.h"

#if MPI_VERSION >= 4

int large_below(const struct layer_call *a)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return PMPI_Allgather_c(a->send, a->send_count, a->send_type, a->recv,
                                a->recv_count, a->recv_type, a->comm);
    case DCOLL_GATHER:
        return PMPI_Gather_c(a->send, a->send_count, a->send_type, a->recv,
                             a->recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_SCATTER:
        return PMPI_Scatter_c(a->send, a->send_count, a->send_type, a->recv,
                              a->recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_ALLTOALL:
        return PMPI_Alltoall_c(a->send, a->send_count, a->send_type, a->recv,
                               a->recv_count, a->recv_type, a->comm);
    case DCOLL_ALLTOALLV:
        return PMPI_Alltoallv_c(a->send, a->send_counts, a->send_displs,
                                a->send_type, a->recv, a->recv_counts,
                                a->recv_displs, a->recv_type, a->comm);
    case LAYER_ALLGATHERV:
        return PMPI_Allgatherv_c(a->send, a->send_count, a->send_type, a->recv,
                                 a->recv_counts, a->recv_displs, a->recv_type,
                                 a->comm);
    case LAYER_GATHERV:
        return PMPI_Gatherv_c(a->send, a->send_count, a->send_type, a->recv,
                              a->recv_counts, a->recv_displs, a->recv_type,
                              a->root, a->comm);
    case LAYER_SCATTERV:
        return PMPI_Scatterv_c(a->send, a->send_counts, a->send_displs,
                               a->send_type, a->recv, a->recv_count,
                               a->recv_type, a->root, a->comm);
    case DCOLL_BCAST:
        return PMPI_Bcast_c(a->recv, a->recv_count, a->recv_type, a->root,
                            a->comm);
    case DCOLL_ALLREDUCE:
        return PMPI_Allreduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                                a->op, a->comm);
    default:
        return PMPI_Reduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                             a->op, a->root, a->comm);
    }
}

int large_below_begin(const struct layer_call *a, MPI_Request *request)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return PMPI_Iallgather_c(a->send, a->send_count, a->send_type, a->recv,
                                 a->recv_count, a->recv_type, a->comm, request);
    case DCOLL_GATHER:
        return PMPI_Igather_c(a->send, a->send_count, a->send_type, a->recv,
                              a->recv_count, a->recv_type, a->root, a->comm,
                              request);
    case DCOLL_SCATTER:
        return PMPI_Iscatter_c(a->send, a->send_count, a->send_type, a->recv,
                               a->recv_count, a->recv_type, a->root, a->comm,
                               request);
    case DCOLL_ALLTOALL:
        return PMPI_Ialltoall_c(a->send, a->send_count, a->send_type, a->recv,
                                a->recv_count, a->recv_type, a->comm, request);
    case DCOLL_ALLREDUCE:
        return PMPI_Iallreduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                                 a->op, a->comm, request);
    case DCOLL_REDUCE:
        return PMPI_Ireduce_c(a->send, a->recv, a->recv_count, a->recv_type,
                              a->op, a->root, a->comm, request);
    default:
        return PMPI_Ibcast_c(a->recv, a->recv_count, a->recv_type, a->root,
                             a->comm, request);
    }
}

int large_below_init(const struct layer_call *a, MPI_Info info,
                     MPI_Request *request)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return PMPI_Allgather_init_c(a->send, a->send_count, a->send_type,
                                     a->recv, a->recv_count, a->recv_type,
                                     a->comm, info, request);
    case DCOLL_GATHER:
        return PMPI_Gather_init_c(a->send, a->send_count, a->send_type, a->recv,
                                  a->recv_count, a->recv_type, a->root, a->comm,
                                  info, request);
    case DCOLL_SCATTER:
        return PMPI_Scatter_init_c(a->send, a->send_count, a->send_type,
                                   a->recv, a->recv_count, a->recv_type,
                                   a->root, a->comm, info, request);
    case DCOLL_ALLTOALL:
        return PMPI_Alltoall_init_c(a->send, a->send_count, a->send_type,
                                    a->recv, a->recv_count, a->recv_type,
                                    a->comm, info, request);
    case DCOLL_ALLTOALLV:
        return PMPI_Alltoallv_init_c(a->send, a->send_counts, a->send_displs,
                                     a->send_type, a->recv, a->recv_counts,
                                     a->recv_displs, a->recv_type, a->comm,
                                     info, request);
    case LAYER_ALLGATHERV:
        return PMPI_Allgatherv_init_c(a->send, a->send_count, a->send_type,
                                      a->recv, a->recv_counts, a->recv_displs,
                                      a->recv_type, a->comm, info, request);
    case LAYER_GATHERV:
        return PMPI_Gatherv_init_c(
            a->send, a->send_count, a->send_type, a->recv, a->recv_counts,
            a->recv_displs, a->recv_type, a->root, a->comm, info, request);
    case LAYER_SCATTERV:
        return PMPI_Scatterv_init_c(
            a->send, a->send_counts, a->send_displs, a->send_type, a->recv,
            a->recv_count, a->recv_type, a->root, a->comm, info, request);
    case DCOLL_ALLREDUCE:
        return PMPI_Allreduce_init_c(a->send, a->recv, a->recv_count,
                                     a->recv_type, a->op, a->comm, info,
                                     request);
    case DCOLL_REDUCE:
        return PMPI_Reduce_init_c(a->send, a->recv, a->recv_count, a->recv_type,
                                  a->op, a->root, a->comm, info, request);
    default:
        return PMPI_Bcast_init_c(a->recv, a->recv_count, a->recv_type, a->root,
                                 a->comm, info, request);
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI 4 whose counts may be more than an int: taken where ints
 * hold them. That is the same on all ranks, as blocks which are longer are left
 * for their bytes. Those with counts for each rank (MPI_Alltoallv_c) are not
 * taken: of them a rank knows its own only.
 */
#include <limits.h>

#include "layer.h"

#if MPI_VERSION >= 4

/* The greatest int stands for all that are greater: too long, or empty. */
static int narrow(MPI_Count count)
{
    return count > INT_MAX ? INT_MAX : count < 0 ? -1 : (int)count;
}

static int make(struct layer_call *a, MPI_Count send_count,
                MPI_Count recv_count)
{
    a->large = true;
    a->send_large = send_count;
    a->recv_large = recv_count;
    a->send_count = narrow(send_count);
    a->recv_count = narrow(recv_count);
    return layer_make(a);
}

static int make_blocks(int collective, const void *send, MPI_Count send_count,
                       MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                       MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    return make(&(struct layer_call){.collective = collective,
                                     .send = send,
                                     .send_type = send_type,
                                     .recv = recv,
                                     .recv_type = recv_type,
                                     .root = root,
                                     .comm = comm},
                send_count, recv_count);
}

int large_below(const struct layer_call *a)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return PMPI_Allgather_c(a->send, a->send_large, a->send_type, a->recv,
                                a->recv_large, a->recv_type, a->comm);
    case DCOLL_GATHER:
        return PMPI_Gather_c(a->send, a->send_large, a->send_type, a->recv,
                             a->recv_large, a->recv_type, a->root, a->comm);
    case DCOLL_SCATTER:
        return PMPI_Scatter_c(a->send, a->send_large, a->send_type, a->recv,
                              a->recv_large, a->recv_type, a->root, a->comm);
    case DCOLL_ALLTOALL:
        return PMPI_Alltoall_c(a->send, a->send_large, a->send_type, a->recv,
                               a->recv_large, a->recv_type, a->comm);
    case DCOLL_BCAST:
        return PMPI_Bcast_c(a->recv, a->recv_large, a->recv_type, a->root,
                            a->comm);
    case LAYER_ALLREDUCE:
        return PMPI_Allreduce_c(a->send, a->recv, a->recv_large, a->recv_type,
                                a->op, a->comm);
    default:
        return PMPI_Reduce_c(a->send, a->recv, a->recv_large, a->recv_type,
                             a->op, a->root, a->comm);
    }
}

#pragma GCC visibility push(default)

int MPI_Allgather_c(const void *send, MPI_Count send_count,
                    MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                    MPI_Datatype recv_type, MPI_Comm comm)
{
    return make_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                       recv_count, recv_type, 0, comm);
}

int MPI_Gather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type,
                 void *recv, MPI_Count recv_count, MPI_Datatype recv_type,
                 int root, MPI_Comm comm)
{
    return make_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                       recv_count, recv_type, root, comm);
}

int MPI_Scatter_c(const void *send, MPI_Count send_count,
                  MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                  MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    return make_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                       recv_count, recv_type, root, comm);
}

int MPI_Alltoall_c(const void *send, MPI_Count send_count,
                   MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                   MPI_Datatype recv_type, MPI_Comm comm)
{
    return make_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                       recv_count, recv_type, 0, comm);
}

int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                MPI_Comm comm)
{
    return make_blocks(DCOLL_BCAST, NULL, 0, MPI_DATATYPE_NULL, buffer, count,
                       type, root, comm);
}

int MPI_Allreduce_c(const void *send, void *recv, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return make(&(struct layer_call){.collective = LAYER_ALLREDUCE,
                                     .send = send,
                                     .recv = recv,
                                     .recv_type = type,
                                     .op = op,
                                     .comm = comm},
                0, count);
}

int MPI_Reduce_c(const void *send, void *recv, MPI_Count count,
                 MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    return make(&(struct layer_call){.collective = LAYER_REDUCE,
                                     .send = send,
                                     .recv = recv,
                                     .recv_type = type,
                                     .op = op,
                                     .root = root,
                                     .comm = comm},
                0, count);
}

#pragma GCC visibility pop

#endif

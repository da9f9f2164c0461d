/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of MPI's functions, as one thing. Of what is not said here a
 * call has none. */
#include "mpi/layer.h"

struct layer_call call_blocks(int collective, const void *send,
                              MPI_Count send_count, MPI_Datatype send_type,
                              void *recv, MPI_Count recv_count,
                              MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    return (struct layer_call){.collective = collective,
                               .send = send,
                               .send_count = send_count,
                               .send_type = send_type,
                               .recv = recv,
                               .recv_count = recv_count,
                               .recv_type = recv_type,
                               .root = root,
                               .comm = comm};
}

struct layer_call call_bcast(void *buffer, MPI_Count count, MPI_Datatype type,
                             int root, MPI_Comm comm)
{
    return (struct layer_call){.collective = DCOLL_BCAST,
                               .recv = buffer,
                               .recv_count = count,
                               .recv_type = type,
                               .root = root,
                               .comm = comm};
}

struct layer_call call_barrier(MPI_Comm comm)
{
    return (struct layer_call){.collective = DCOLL_BARRIER, .comm = comm};
}

struct layer_call call_reduce(int collective, const void *send, void *recv,
                              MPI_Count count, MPI_Datatype type, MPI_Op op,
                              int root, MPI_Comm comm)
{
    return (struct layer_call){.collective = collective,
                               .send = send,
                               .send_count = count,
                               .send_type = type,
                               .recv = recv,
                               .recv_count = count,
                               .recv_type = type,
                               .op = op,
                               .root = root,
                               .comm = comm};
}

struct layer_call call_alltoallv(const void *send, const void *send_counts,
                                 const void *send_displs,
                                 MPI_Datatype send_type, void *recv,
                                 const void *recv_counts,
                                 const void *recv_displs,
                                 MPI_Datatype recv_type, MPI_Comm comm)
{
    return (struct layer_call){.collective = DCOLL_ALLTOALLV,
                               .send = send,
                               .send_counts = send_counts,
                               .send_displs = send_displs,
                               .send_type = send_type,
                               .recv = recv,
                               .recv_counts = recv_counts,
                               .recv_displs = recv_displs,
                               .recv_type = recv_type,
                               .comm = comm};
}

struct layer_call call_gatherv(int collective, const void *send,
                               MPI_Count send_count, MPI_Datatype send_type,
                               void *recv, const void *recv_counts,
                               const void *recv_displs, MPI_Datatype recv_type,
                               int root, MPI_Comm comm)
{
    return (struct layer_call){.collective = collective,
                               .send = send,
                               .send_count = send_count,
                               .send_type = send_type,
                               .recv = recv,
                               .recv_counts = recv_counts,
                               .recv_displs = recv_displs,
                               .recv_type = recv_type,
                               .root = root,
                               .comm = comm};
}

struct layer_call call_scatterv(const void *send, const void *send_counts,
                                const void *send_displs, MPI_Datatype send_type,
                                void *recv, MPI_Count recv_count,
                                MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    return (struct layer_call){.collective = LAYER_SCATTERV,
                               .send = send,
                               .send_counts = send_counts,
                               .send_displs = send_displs,
                               .send_type = send_type,
                               .recv = recv,
                               .recv_count = recv_count,
                               .recv_type = recv_type,
                               .root = root,
                               .comm = comm};
}

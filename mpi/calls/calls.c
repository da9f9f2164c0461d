/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that are taken over. */
#include "mpi/layer.h"

static int make(struct layer_call a)
{
    return layer_make(&a);
}

#pragma GCC visibility push(default)

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type,
                  void *recv, int recv_count, MPI_Datatype recv_type,
                  MPI_Comm comm)
{
    return make(call_blocks(DCOLL_ALLGATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm));
}

int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type,
               void *recv, int recv_count, MPI_Datatype recv_type, int root,
               MPI_Comm comm)
{
    return make(call_blocks(DCOLL_GATHER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm));
}

int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type,
                void *recv, int recv_count, MPI_Datatype recv_type, int root,
                MPI_Comm comm)
{
    return make(call_blocks(DCOLL_SCATTER, send, send_count, send_type, recv,
                            recv_count, recv_type, root, comm));
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type,
                 void *recv, int recv_count, MPI_Datatype recv_type,
                 MPI_Comm comm)
{
    return make(call_blocks(DCOLL_ALLTOALL, send, send_count, send_type, recv,
                            recv_count, recv_type, 0, comm));
}

int MPI_Alltoallv(const void *send, const int *send_counts,
                  const int *send_displs, MPI_Datatype send_type, void *recv,
                  const int *recv_counts, const int *recv_displs,
                  MPI_Datatype recv_type, MPI_Comm comm)
{
    return make(call_alltoallv(send, send_counts, send_displs, send_type, recv,
                               recv_counts, recv_displs, recv_type, comm));
}

int MPI_Allgatherv(const void *send, int send_count, MPI_Datatype send_type,
                   void *recv, const int *recv_counts, const int *recv_displs,
                   MPI_Datatype recv_type, MPI_Comm comm)
{
    return make(call_gatherv(LAYER_ALLGATHERV, send, send_count, send_type,
                             recv, recv_counts, recv_displs, recv_type, 0,
                             comm));
}

int MPI_Gatherv(const void *send, int send_count, MPI_Datatype send_type,
                void *recv, const int *recv_counts, const int *recv_displs,
                MPI_Datatype recv_type, int root, MPI_Comm comm)
{
    return make(call_gatherv(LAYER_GATHERV, send, send_count, send_type, recv,
                             recv_counts, recv_displs, recv_type, root, comm));
}

int MPI_Scatterv(const void *send, const int *send_counts,
                 const int *send_displs, MPI_Datatype send_type, void *recv,
                 int recv_count, MPI_Datatype recv_type, int root,
                 MPI_Comm comm)
{
    return make(call_scatterv(send, send_counts, send_displs, send_type, recv,
                              recv_count, recv_type, root, comm));
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root,
              MPI_Comm comm)
{
    return make(call_bcast(buffer, count, type, root, comm));
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    return make(
        call_reduce(DCOLL_ALLREDUCE, send, recv, count, type, op, 0, comm));
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type,
               MPI_Op op, int root, MPI_Comm comm)
{
    return make(
        call_reduce(DCOLL_REDUCE, send, recv, count, type, op, root, comm));
}

int MPI_Barrier(MPI_Comm comm)
{
    return make(call_barrier(comm));
}

int MPI_Comm_free(MPI_Comm *comm)
{
    pmpi_ready();
    if (comm)
        layer_comm_free(*comm);
    return pmpi.Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    pmpi_ready();
    if (comm)
        layer_comm_free(*comm);
    return pmpi.Comm_disconnect(comm);
}

int MPI_Init(int *argc, char ***argv)
{
    pmpi_ready();
    layer_read_words();
    int rc = pmpi.Init(argc, argv);
    if (!rc)
        layer_agree();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    pmpi_ready();
    layer_read_words();
    int rc = pmpi.Init_thread(argc, argv, required, provided);
    if (!rc)
        layer_agree();
    return rc;
}

int MPI_Finalize(void)
{
    layer_begin();
    layer.ended = true; /* what it calls of the program's is not taken */
    layer_comm_end_all();
    if (layer.stats || layer.verify)
        stats_print();
    return pmpi.Finalize();
}

#pragma GCC visibility pop

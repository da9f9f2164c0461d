/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that do not block: MPI_I... and, of MPI 4, MPI_..._init. */
#include "requests.h"

/* Calls by the parameters of the functions below. */
#define BLOCKS(kind, at)                                                       \
    &(struct layer_call)                                                       \
    {                                                                          \
        .collective = kind, .send = send, .send_count = send_count,            \
        .send_type = send_type, .recv = recv, .recv_count = recv_count,        \
        .recv_type = recv_type, .root = at, .comm = comm                       \
    }
#define BROADCAST                                                              \
    &(struct layer_call)                                                       \
    {                                                                          \
        .collective = DCOLL_BCAST, .recv = buffer, .recv_count = count,        \
        .recv_type = type, .root = root, .comm = comm                          \
    }
#define BARRIER                                                                \
    &(struct layer_call)                                                       \
    {                                                                          \
        .collective = DCOLL_BARRIER, .comm = comm                              \
    }
#define ALLTOALLV                                                              \
    &(struct layer_call)                                                       \
    {                                                                          \
        .collective = DCOLL_ALLTOALLV, .send = send,                           \
        .send_counts = send_counts, .send_displs = send_displs,                \
        .send_type = send_type, .recv = recv, .recv_counts = recv_counts,      \
        .recv_displs = recv_displs, .recv_type = recv_type, .comm = comm       \
    }
#define GATHERV(kind, at)                                                      \
    &(struct layer_call)                                                       \
    {                                                                          \
        .collective = kind, .send = send, .send_count = send_count,            \
        .send_type = send_type, .recv = recv, .recv_counts = recv_counts,      \
        .recv_displs = recv_displs, .recv_type = recv_type, .root = at,        \
        .comm = comm                                                           \
    }
#define SCATTERV                                                               \
    &(struct layer_call)                                                       \
    {                                                                          \
        .collective = LAYER_SCATTERV, .send = send,                            \
        .send_counts = send_counts, .send_displs = send_displs,                \
        .send_type = send_type, .recv = recv, .recv_count = recv_count,        \
        .recv_type = recv_type, .root = root, .comm = comm                     \
    }

#pragma GCC visibility push(default)

int MPI_Iallgather(const void *send, int send_count, MPI_Datatype send_type,
                   void *recv, int recv_count, MPI_Datatype recv_type,
                   MPI_Comm comm, MPI_Request *request)
{
    return start_call(BLOCKS(DCOLL_ALLGATHER, 0), request);
}

int MPI_Igather(const void *send, int send_count, MPI_Datatype send_type,
                void *recv, int recv_count, MPI_Datatype recv_type, int root,
                MPI_Comm comm, MPI_Request *request)
{
    return start_call(BLOCKS(DCOLL_GATHER, root), request);
}

int MPI_Iscatter(const void *send, int send_count, MPI_Datatype send_type,
                 void *recv, int recv_count, MPI_Datatype recv_type, int root,
                 MPI_Comm comm, MPI_Request *request)
{
    return start_call(BLOCKS(DCOLL_SCATTER, root), request);
}

int MPI_Ialltoall(const void *send, int send_count, MPI_Datatype send_type,
                  void *recv, int recv_count, MPI_Datatype recv_type,
                  MPI_Comm comm, MPI_Request *request)
{
    return start_call(BLOCKS(DCOLL_ALLTOALL, 0), request);
}

int MPI_Ialltoallv(const void *send, const int *send_counts,
                   const int *send_displs, MPI_Datatype send_type, void *recv,
                   const int *recv_counts, const int *recv_displs,
                   MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request)
{
    return start_call(ALLTOALLV, request);
}

int MPI_Iallgatherv(const void *send, int send_count, MPI_Datatype send_type,
                    void *recv, const int *recv_counts, const int *recv_displs,
                    MPI_Datatype recv_type, MPI_Comm comm, MPI_Request *request)
{
    return start_call(GATHERV(LAYER_ALLGATHERV, 0), request);
}

int MPI_Igatherv(const void *send, int send_count, MPI_Datatype send_type,
                 void *recv, const int *recv_counts, const int *recv_displs,
                 MPI_Datatype recv_type, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    return start_call(GATHERV(LAYER_GATHERV, root), request);
}

int MPI_Iscatterv(const void *send, const int *send_counts,
                  const int *send_displs, MPI_Datatype send_type, void *recv,
                  int recv_count, MPI_Datatype recv_type, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    return start_call(SCATTERV, request);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root,
               MPI_Comm comm, MPI_Request *request)
{
    return start_call(BROADCAST, request);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return start_call(BARRIER, request);
}

/* MPI 4, whose names headers of before do not have. */
int MPI_Allgather_init(const void *send, int send_count, MPI_Datatype send_type,
                       void *recv, int recv_count, MPI_Datatype recv_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Gather_init(const void *send, int send_count, MPI_Datatype send_type,
                    void *recv, int recv_count, MPI_Datatype recv_type,
                    int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request);
int MPI_Scatter_init(const void *send, int send_count, MPI_Datatype send_type,
                     void *recv, int recv_count, MPI_Datatype recv_type,
                     int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request);
int MPI_Alltoall_init(const void *send, int send_count, MPI_Datatype send_type,
                      void *recv, int recv_count, MPI_Datatype recv_type,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Alltoallv_init(const void *send, const int *send_counts,
                       const int *send_displs, MPI_Datatype send_type,
                       void *recv, const int *recv_counts,
                       const int *recv_displs, MPI_Datatype recv_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Allgatherv_init(const void *send, int send_count,
                        MPI_Datatype send_type, void *recv,
                        const int *recv_counts, const int *recv_displs,
                        MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request);
int MPI_Gatherv_init(const void *send, int send_count, MPI_Datatype send_type,
                     void *recv, const int *recv_counts, const int *recv_displs,
                     MPI_Datatype recv_type, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request);
int MPI_Scatterv_init(const void *send, const int *send_counts,
                      const int *send_displs, MPI_Datatype send_type,
                      void *recv, int recv_count, MPI_Datatype recv_type,
                      int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request);
int MPI_Bcast_init(void *buffer, int count, MPI_Datatype type, int root,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request);

int MPI_Allgather_init(const void *send, int send_count, MPI_Datatype send_type,
                       void *recv, int recv_count, MPI_Datatype recv_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return start_init(BLOCKS(DCOLL_ALLGATHER, 0), info, request);
}

int MPI_Gather_init(const void *send, int send_count, MPI_Datatype send_type,
                    void *recv, int recv_count, MPI_Datatype recv_type,
                    int root, MPI_Comm comm, MPI_Info info,
                    MPI_Request *request)
{
    return start_init(BLOCKS(DCOLL_GATHER, root), info, request);
}

int MPI_Scatter_init(const void *send, int send_count, MPI_Datatype send_type,
                     void *recv, int recv_count, MPI_Datatype recv_type,
                     int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    return start_init(BLOCKS(DCOLL_SCATTER, root), info, request);
}

int MPI_Alltoall_init(const void *send, int send_count, MPI_Datatype send_type,
                      void *recv, int recv_count, MPI_Datatype recv_type,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return start_init(BLOCKS(DCOLL_ALLTOALL, 0), info, request);
}

int MPI_Alltoallv_init(const void *send, const int *send_counts,
                       const int *send_displs, MPI_Datatype send_type,
                       void *recv, const int *recv_counts,
                       const int *recv_displs, MPI_Datatype recv_type,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return start_init(ALLTOALLV, info, request);
}

int MPI_Allgatherv_init(const void *send, int send_count,
                        MPI_Datatype send_type, void *recv,
                        const int *recv_counts, const int *recv_displs,
                        MPI_Datatype recv_type, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return start_init(GATHERV(LAYER_ALLGATHERV, 0), info, request);
}

int MPI_Gatherv_init(const void *send, int send_count, MPI_Datatype send_type,
                     void *recv, const int *recv_counts, const int *recv_displs,
                     MPI_Datatype recv_type, int root, MPI_Comm comm,
                     MPI_Info info, MPI_Request *request)
{
    return start_init(GATHERV(LAYER_GATHERV, root), info, request);
}

int MPI_Scatterv_init(const void *send, const int *send_counts,
                      const int *send_displs, MPI_Datatype send_type,
                      void *recv, int recv_count, MPI_Datatype recv_type,
                      int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    return start_init(SCATTERV, info, request);
}

int MPI_Bcast_init(void *buffer, int count, MPI_Datatype type, int root,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return start_init(BROADCAST, info, request);
}

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return start_init(BARRIER, info, request);
}

#pragma GCC visibility pop

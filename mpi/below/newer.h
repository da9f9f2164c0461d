/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of MPI 4 and 4.1. Headers of before do not declare them, though the
 * MPI that is loaded may have them. */
#ifndef MPI_NEWER_H
#define MPI_NEWER_H

#include <mpi.h>

#define NEWER(name, ...)                                                       \
    int MPI_##name(__VA_ARGS__);                                               \
    int PMPI_##name(__VA_ARGS__)

#if MPI_VERSION < 4
NEWER(Allgather_init, const void *, int, MPI_Datatype, void *, int,
      MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Gather_init, const void *, int, MPI_Datatype, void *, int, MPI_Datatype,
      int, MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Scatter_init, const void *, int, MPI_Datatype, void *, int, MPI_Datatype,
      int, MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Alltoall_init, const void *, int, MPI_Datatype, void *, int, MPI_Datatype,
      MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Alltoallv_init, const void *, const int[], const int[], MPI_Datatype,
      void *, const int[], const int[], MPI_Datatype, MPI_Comm, MPI_Info,
      MPI_Request *);
NEWER(Allgatherv_init, const void *, int, MPI_Datatype, void *, const int[],
      const int[], MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Gatherv_init, const void *, int, MPI_Datatype, void *, const int[],
      const int[], MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Scatterv_init, const void *, const int[], const int[], MPI_Datatype,
      void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Bcast_init, void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info,
      MPI_Request *);
NEWER(Allreduce_init, const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,
      MPI_Info, MPI_Request *);
NEWER(Reduce_init, const void *, void *, int, MPI_Datatype, MPI_Op, int,
      MPI_Comm, MPI_Info, MPI_Request *);
NEWER(Barrier_init, MPI_Comm, MPI_Info, MPI_Request *);
#endif

#if MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION < 1)
NEWER(Request_get_status_any, int, const MPI_Request[], int *, int *,
      MPI_Status *);
NEWER(Request_get_status_all, int, const MPI_Request[], int *, MPI_Status *);
NEWER(Request_get_status_some, int, const MPI_Request[], int *, int[],
      MPI_Status *);
#endif

#undef NEWER

#endif

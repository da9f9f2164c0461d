/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares functions of MPI 4 and 4.1 that an older mpi.h lacks: the MPI that
 * is loaded may have them. */
#ifndef MPI_NEWER_H
#define MPI_NEWER_H

#include <mpi.h>

#include "mpi/calls/signatures.h"

#define NEWER(name, ...)                                                       \
    int MPI_##name(__VA_ARGS__);                                               \
    int PMPI_##name(__VA_ARGS__);

#if MPI_VERSION < 4
#define NEWER_TYPE(kind, member) kind##_INT,
#define NEWER_INIT(Name, name, NAME, SENT, RECEIVED, MORE)                     \
    NEWER(Name##_init,                                                         \
          SENT(NEWER_TYPE) RECEIVED(NEWER_TYPE) MORE(NEWER_TYPE) MPI_Comm,     \
          MPI_Info, MPI_Request *)
COLLECTIVES(NEWER_INIT)
#undef NEWER_INIT
#undef NEWER_TYPE
#endif

#if MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION < 1)
NEWER(Request_get_status_any, int, const MPI_Request[], int *, int *,
      MPI_Status *)
NEWER(Request_get_status_all, int, const MPI_Request[], int *, MPI_Status *)
NEWER(Request_get_status_some, int, const MPI_Request[], int *, int[],
      MPI_Status *)
#endif

#undef NEWER

/* Extensions, which Open MPI declares in a header of their own. */
int MPIX_Comm_revoke(MPI_Comm comm);
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *shrunk);

#endif

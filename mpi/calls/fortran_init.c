/* SPDX-License-Identifier: BSD-3-Clause */
/* Where MPI and communicators begin and end, for Fortran. */
#include "mpi/calls/fortran.h"

static void tell_comm(int rc, MPI_Comm left, fint *comm, fint *error)
{
    if (!rc)
        *comm = TO_FORTRAN(Comm, left);
    fortran_tell(error, rc);
}

#pragma GCC visibility push(default)

FORTRAN(init, MPI_INIT, fint *error)
{
    fortran_tell(error, MPI_Init(NULL, NULL));
}

FORTRAN(init_thread, MPI_INIT_THREAD, fint *required, fint *provided,
        fint *error)
{
    fortran_tell(error, MPI_Init_thread(NULL, NULL, *required, provided));
}

FORTRAN(finalize, MPI_FINALIZE, fint *error)
{
    fortran_tell(error, MPI_Finalize());
}

FORTRAN(comm_free, MPI_COMM_FREE, fint *comm, fint *error)
{
    MPI_Comm own = fortran_comm(comm);
    int rc = MPI_Comm_free(&own);
    tell_comm(rc, own, comm, error);
}

FORTRAN(comm_disconnect, MPI_COMM_DISCONNECT, fint *comm, fint *error)
{
    MPI_Comm own = fortran_comm(comm);
    int rc = MPI_Comm_disconnect(&own);
    tell_comm(rc, own, comm, error);
}

#pragma GCC visibility pop

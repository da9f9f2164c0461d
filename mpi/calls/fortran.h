/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran. Open MPI's Fortran functions call PMPI_Allgather directly, so this
 * library defines them too, by all names that compilers and the module mpi_f08
 * use. Those of other MPIs call MPI_Allgather, except functions of mpi_f08
 * without buffers. In Fortran handles are integers, arguments are addresses,
 * and a status has the layout of C's.
 */
#ifndef MPI_FORTRAN_H
#define MPI_FORTRAN_H

#include "mpi/layer.h"

typedef int fint;

#ifdef OPEN_MPI

_Static_assert(sizeof(MPI_Fint) == sizeof(fint), "counts are passed on");

/* Defines ompi_name_f, with the aliases mpi_name_, mpi_name__, mpi_name and
 * MPI_NAME. */
#define ALIAS(of) __attribute__((alias("ompi_" #of "_f")))
#define FORTRAN(of, upper, ...)                                                \
    void ompi_##of##_f(__VA_ARGS__);                                           \
    void mpi_##of##_(__VA_ARGS__) ALIAS(of);                                   \
    void mpi_##of##__(__VA_ARGS__) ALIAS(of);                                  \
    void mpi_##of(__VA_ARGS__) ALIAS(of);                                      \
    void upper(__VA_ARGS__) ALIAS(of);                                         \
    void ompi_##of##_f(__VA_ARGS__)
/* The same for functions with a logical result, which have a name of their own
 * in mpi_f08. */
#define FORTRAN_TEST(of, upper, ...)                                           \
    void mpi_##of##_f08_(__VA_ARGS__) ALIAS(of);                               \
    FORTRAN(of, upper, __VA_ARGS__)

#else

#define FORTRAN(of, upper, ...)                                                \
    void mpi_##of##_f08_(__VA_ARGS__);                                         \
    void mpi_##of##_f08_(__VA_ARGS__)
#define FORTRAN_TEST FORTRAN

#endif

#ifdef OPEN_MPI
#define FROM_FORTRAN(kind, number) pmpi.kind##_f2c(number)
#define TO_FORTRAN(kind, handle)   pmpi.kind##_c2f(handle)
#elif defined MPICH_NUMVERSION
#define FROM_FORTRAN(kind, number) PMPI_##kind##_f2c(number)
#define TO_FORTRAN(kind, handle)   PMPI_##kind##_c2f(handle)
#else
#define FROM_FORTRAN(kind, number) pmpi.kind##_fromint(number)
#define TO_FORTRAN(kind, handle)   pmpi.kind##_toint(handle)
#endif

static inline MPI_Comm fortran_comm(const fint *comm)
{
    return FROM_FORTRAN(Comm, *comm);
}

/* Returns an MPI error. @error may be NULL in mpi_f08. */
static inline void fortran_tell(fint *error, int rc)
{
    if (error)
        *error = rc;
}

/* Is @place the Fortran variable of this name, whose address stands for a
 * constant (MPI_IN_PLACE)? *known caches where that is. */
bool fortran_is_at(const void *place, const char *name,
                   const void *_Atomic *known);

#endif

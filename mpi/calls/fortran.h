/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's Fortran calls go to its PMPI_ functions, past MPI_Allgather: they
 * are taken over, too, by the names that compilers give them and the one that
 * its module mpi_f08 calls. Those of MPICH and its kind call MPI_Allgather, but
 * for those of mpi_f08 that have no buffers. Handles are numbers there,
 * arguments addresses, and a status is what it is in C.
 */
#ifndef MPI_FORTRAN_H
#define MPI_FORTRAN_H

#include "mpi/requests/requests.h"

typedef int fint;

#ifdef OPEN_MPI

_Static_assert(sizeof(MPI_Fint) == sizeof(fint), "counts are passed on");

/* name_, name__, name and NAME, of the function behind it */
#define ALIAS(of) __attribute__((alias("ompi_" #of "_f")))
#define FORTRAN(of, upper, ...)                                                \
    void ompi_##of##_f(__VA_ARGS__);                                           \
    void mpi_##of##_(__VA_ARGS__) ALIAS(of);                                   \
    void mpi_##of##__(__VA_ARGS__) ALIAS(of);                                  \
    void mpi_##of(__VA_ARGS__) ALIAS(of);                                      \
    void upper(__VA_ARGS__) ALIAS(of);                                         \
    void ompi_##of##_f(__VA_ARGS__)
/* The same where mpi_f08 calls pmpi_name_. */
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

/* What a call returns; @error is NULL where mpi_f08 was not asked for it. */
static inline void fortran_tell(fint *error, int rc)
{
    if (error)
        *error = rc;
}

/* ---- fortran_call.c ---- */

/* Is it the variable of Fortran's of this name, which stands for something
 * else? *known: where that is, once it has been found. */
bool fortran_is_at(const void *place, const char *name, const void **known);

#ifdef OPEN_MPI

/* As those of call.c. */
struct layer_call fortran_blocks(int collective, void *send,
                                 const fint *send_count, const fint *send_type,
                                 void *recv, const fint *recv_count,
                                 const fint *recv_type, int root,
                                 const fint *comm);
struct layer_call fortran_bcast(void *buffer, const fint *count,
                                const fint *type, const fint *root,
                                const fint *comm);
struct layer_call fortran_reduce(int collective, void *send, void *recv,
                                 const fint *count, const fint *type,
                                 const fint *op, int root, const fint *comm);
struct layer_call fortran_alltoallv(void *send, const fint *send_counts,
                                    const fint *send_displs,
                                    const fint *send_type, void *recv,
                                    const fint *recv_counts,
                                    const fint *recv_displs,
                                    const fint *recv_type, const fint *comm);
struct layer_call fortran_gatherv(int collective, void *send,
                                  const fint *send_count, const fint *send_type,
                                  void *recv, const fint *recv_counts,
                                  const fint *recv_displs,
                                  const fint *recv_type, int root,
                                  const fint *comm);
struct layer_call
fortran_scatterv(void *send, const fint *send_counts, const fint *send_displs,
                 const fint *send_type, void *recv, const fint *recv_count,
                 const fint *recv_type, const fint *root, const fint *comm);

#endif

#endif

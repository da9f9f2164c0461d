/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's Fortran calls go to its PMPI_ functions, past MPI_Allgather: they
 * are taken over, too, by the names that compilers give them and the one that
 * its module mpi_f08 calls. Those of MPICH and its kind call MPI_Allgather, but
 * for those of mpi_f08 that have no buffers.
 */
#include <dlfcn.h>

#include "layer.h"

#ifdef OPEN_MPI

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts are passed on");

typedef MPI_Fint fint;

/* The places of Fortran that stand for something else. */
static void *buffer_of(void *buffer)
{
    static const void *in_place, *bottom;
    if (!in_place)
        in_place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    if (!bottom)
        bottom = dlsym(RTLD_DEFAULT, "mpi_fortran_bottom_");
    if (buffer && buffer == in_place)
        return MPI_IN_PLACE;
    return buffer == bottom ? MPI_BOTTOM : buffer;
}

static MPI_Comm comm_of(const fint *comm)
{
    return PMPI_Comm_f2c(*comm);
}

static MPI_Datatype type_of(const fint *type)
{
    return PMPI_Type_f2c(*type);
}

static void tell(fint *error, int rc)
{
    if (error)
        *error = rc;
}

#pragma GCC visibility push(default)

/* name_, name__, name and NAME, of the function behind it */
#define ALIAS(of) __attribute__((alias("ompi_" #of "_f")))
#define FORTRAN(of, upper, ...)                                                \
    void ompi_##of##_f(__VA_ARGS__);                                           \
    void mpi_##of##_(__VA_ARGS__) ALIAS(of);                                   \
    void mpi_##of##__(__VA_ARGS__) ALIAS(of);                                  \
    void mpi_##of(__VA_ARGS__) ALIAS(of);                                      \
    void upper(__VA_ARGS__) ALIAS(of);                                         \
    void ompi_##of##_f(__VA_ARGS__)

FORTRAN(init, MPI_INIT, fint *error)
{
    int argc = 0;
    char **argv = NULL;
    tell(error, MPI_Init(&argc, &argv));
}

FORTRAN(init_thread, MPI_INIT_THREAD, fint *required, fint *provided,
        fint *error)
{
    int argc = 0;
    char **argv = NULL;
    tell(error, MPI_Init_thread(&argc, &argv, *required, provided));
}

FORTRAN(finalize, MPI_FINALIZE, fint *error)
{
    tell(error, MPI_Finalize());
}

FORTRAN(comm_free, MPI_COMM_FREE, fint *comm, fint *error)
{
    MPI_Comm freed = comm_of(comm);
    int rc = MPI_Comm_free(&freed);
    if (!rc)
        *comm = PMPI_Comm_c2f(freed);
    tell(error, rc);
}

FORTRAN(comm_disconnect, MPI_COMM_DISCONNECT, fint *comm, fint *error)
{
    MPI_Comm freed = comm_of(comm);
    int rc = MPI_Comm_disconnect(&freed);
    if (!rc)
        *comm = PMPI_Comm_c2f(freed);
    tell(error, rc);
}

FORTRAN(barrier, MPI_BARRIER, fint *comm, fint *error)
{
    tell(error, MPI_Barrier(comm_of(comm)));
}

FORTRAN(bcast, MPI_BCAST, char *buffer, fint *count, fint *type, fint *root,
        fint *comm, fint *error)
{
    tell(error, MPI_Bcast(buffer_of(buffer), *count, type_of(type), *root,
                          comm_of(comm)));
}

FORTRAN(allgather, MPI_ALLGATHER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *comm, fint *error)
{
    tell(error, MPI_Allgather(buffer_of(send), *send_count, type_of(send_type),
                              buffer_of(recv), *recv_count, type_of(recv_type),
                              comm_of(comm)));
}

FORTRAN(alltoall, MPI_ALLTOALL, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *comm, fint *error)
{
    tell(error, MPI_Alltoall(buffer_of(send), *send_count, type_of(send_type),
                             buffer_of(recv), *recv_count, type_of(recv_type),
                             comm_of(comm)));
}

FORTRAN(gather, MPI_GATHER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *root, fint *comm,
        fint *error)
{
    tell(error, MPI_Gather(buffer_of(send), *send_count, type_of(send_type),
                           buffer_of(recv), *recv_count, type_of(recv_type),
                           *root, comm_of(comm)));
}

FORTRAN(scatter, MPI_SCATTER, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_count, fint *recv_type, fint *root, fint *comm,
        fint *error)
{
    tell(error, MPI_Scatter(buffer_of(send), *send_count, type_of(send_type),
                            buffer_of(recv), *recv_count, type_of(recv_type),
                            *root, comm_of(comm)));
}

FORTRAN(alltoallv, MPI_ALLTOALLV, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_counts,
        fint *recv_displs, fint *recv_type, fint *comm, fint *error)
{
    tell(error, MPI_Alltoallv(buffer_of(send), send_counts, send_displs,
                              type_of(send_type), buffer_of(recv), recv_counts,
                              recv_displs, type_of(recv_type), comm_of(comm)));
}

FORTRAN(allgatherv, MPI_ALLGATHERV, char *send, fint *send_count,
        fint *send_type, char *recv, fint *recv_counts, fint *recv_displs,
        fint *recv_type, fint *comm, fint *error)
{
    tell(error, MPI_Allgatherv(buffer_of(send), *send_count, type_of(send_type),
                               buffer_of(recv), recv_counts, recv_displs,
                               type_of(recv_type), comm_of(comm)));
}

FORTRAN(gatherv, MPI_GATHERV, char *send, fint *send_count, fint *send_type,
        char *recv, fint *recv_counts, fint *recv_displs, fint *recv_type,
        fint *root, fint *comm, fint *error)
{
    tell(error, MPI_Gatherv(buffer_of(send), *send_count, type_of(send_type),
                            buffer_of(recv), recv_counts, recv_displs,
                            type_of(recv_type), *root, comm_of(comm)));
}

FORTRAN(scatterv, MPI_SCATTERV, char *send, fint *send_counts,
        fint *send_displs, fint *send_type, char *recv, fint *recv_count,
        fint *recv_type, fint *root, fint *comm, fint *error)
{
    tell(error, MPI_Scatterv(buffer_of(send), send_counts, send_displs,
                             type_of(send_type), buffer_of(recv), *recv_count,
                             type_of(recv_type), *root, comm_of(comm)));
}

FORTRAN(allreduce, MPI_ALLREDUCE, char *send, char *recv, fint *count,
        fint *type, fint *op, fint *comm, fint *error)
{
    tell(error, MPI_Allreduce(buffer_of(send), buffer_of(recv), *count,
                              type_of(type), PMPI_Op_f2c(*op), comm_of(comm)));
}

FORTRAN(reduce, MPI_REDUCE, char *send, char *recv, fint *count, fint *type,
        fint *op, fint *root, fint *comm, fint *error)
{
    tell(error,
         MPI_Reduce(buffer_of(send), buffer_of(recv), *count, type_of(type),
                    PMPI_Op_f2c(*op), *root, comm_of(comm)));
}

#pragma GCC visibility pop

#elif defined MPICH_NUMVERSION || defined MPI_ABI_VERSION

#ifdef MPICH_NUMVERSION /* whose handles are Fortran's */
#define FROM_FORTRAN(comm) (comm)
#define TO_FORTRAN(comm)   (comm)
#else
#define FROM_FORTRAN(comm) PMPI_Comm_fromint(comm)
#define TO_FORTRAN(comm)   PMPI_Comm_toint(comm)
#endif

static void tell(int *error, int rc)
{
    if (error)
        *error = rc;
}

#pragma GCC visibility push(default)

#define FORTRAN(name, ...)                                                     \
    void mpi_##name##_f08_(__VA_ARGS__);                                       \
    void mpi_##name##_f08_(__VA_ARGS__)

FORTRAN(init, int *error)
{
    tell(error, MPI_Init(NULL, NULL));
}

FORTRAN(init_thread, const int *required, int *provided, int *error)
{
    tell(error, MPI_Init_thread(NULL, NULL, *required, provided));
}

FORTRAN(finalize, int *error)
{
    tell(error, MPI_Finalize());
}

FORTRAN(comm_free, int *comm, int *error)
{
    MPI_Comm freed = FROM_FORTRAN(*comm);
    tell(error, MPI_Comm_free(&freed));
    *comm = TO_FORTRAN(freed);
}

FORTRAN(comm_disconnect, int *comm, int *error)
{
    MPI_Comm freed = FROM_FORTRAN(*comm);
    tell(error, MPI_Comm_disconnect(&freed));
    *comm = TO_FORTRAN(freed);
}

FORTRAN(barrier, const int *comm, int *error)
{
    tell(error, MPI_Barrier(FROM_FORTRAN(*comm)));
}

#pragma GCC visibility pop

#endif

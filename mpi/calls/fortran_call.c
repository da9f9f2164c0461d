/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of Fortran as those of C. */
#include <dlfcn.h>

#include "mpi/calls/fortran.h"

bool fortran_is_at(const void *place, const char *name, const void **known)
{
    if (!*known)
        *known = dlsym(RTLD_DEFAULT, name);
    return place && place == *known;
}

#ifdef OPEN_MPI

static void *buffer_of(void *buffer)
{
    static const void *in_place, *bottom;
    if (fortran_is_at(buffer, "mpi_fortran_in_place_", &in_place))
        return MPI_IN_PLACE;
    return fortran_is_at(buffer, "mpi_fortran_bottom_", &bottom) ? MPI_BOTTOM
                                                                 : buffer;
}

static MPI_Datatype type_of(const fint *type)
{
    return pmpi.Type_f2c(*type);
}

struct layer_call fortran_blocks(int collective, void *send,
                                 const fint *send_count, const fint *send_type,
                                 void *recv, const fint *recv_count,
                                 const fint *recv_type, int root,
                                 const fint *comm)
{
    return call_blocks(collective, buffer_of(send), *send_count,
                       type_of(send_type), buffer_of(recv), *recv_count,
                       type_of(recv_type), root, fortran_comm(comm));
}

struct layer_call fortran_bcast(void *buffer, const fint *count,
                                const fint *type, const fint *root,
                                const fint *comm)
{
    return call_bcast(buffer_of(buffer), *count, type_of(type), *root,
                      fortran_comm(comm));
}

struct layer_call fortran_reduce(int collective, void *send, void *recv,
                                 const fint *count, const fint *type,
                                 const fint *op, int root, const fint *comm)
{
    return call_reduce(collective, buffer_of(send), buffer_of(recv), *count,
                       type_of(type), pmpi.Op_f2c(*op), root,
                       fortran_comm(comm));
}

struct layer_call fortran_alltoallv(void *send, const fint *send_counts,
                                    const fint *send_displs,
                                    const fint *send_type, void *recv,
                                    const fint *recv_counts,
                                    const fint *recv_displs,
                                    const fint *recv_type, const fint *comm)
{
    return call_alltoallv(buffer_of(send), send_counts, send_displs,
                          type_of(send_type), buffer_of(recv), recv_counts,
                          recv_displs, type_of(recv_type), fortran_comm(comm));
}

struct layer_call fortran_gatherv(int collective, void *send,
                                  const fint *send_count, const fint *send_type,
                                  void *recv, const fint *recv_counts,
                                  const fint *recv_displs,
                                  const fint *recv_type, int root,
                                  const fint *comm)
{
    return call_gatherv(collective, buffer_of(send), *send_count,
                        type_of(send_type), buffer_of(recv), recv_counts,
                        recv_displs, type_of(recv_type), root,
                        fortran_comm(comm));
}

struct layer_call
fortran_scatterv(void *send, const fint *send_counts, const fint *send_displs,
                 const fint *send_type, void *recv, const fint *recv_count,
                 const fint *recv_type, const fint *root, const fint *comm)
{
    return call_scatterv(buffer_of(send), send_counts, send_displs,
                         type_of(send_type), buffer_of(recv), *recv_count,
                         type_of(recv_type), *root, fortran_comm(comm));
}

#endif

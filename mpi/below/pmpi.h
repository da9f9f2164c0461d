/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the MPI below, as pmpi.Allgather(…). They are looked up at
 * run time: this library is preloaded into programs without MPI, too, where a
 * loader that binds all symbols at once (LD_BIND_NOW) would end the program;
 * and a program may load its MPI later.
 */
#ifndef MPI_PMPI_H
#define MPI_PMPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "mpi/below/newer.h"

/* clang-format off */
#define PMPI_ALL(CALL)                                                         \
    CALL(Abort) CALL(Add_error_class) CALL(Add_error_code)                     \
    CALL(Add_error_string) CALL(Allgather) CALL(Allgatherv) CALL(Allreduce)    \
    CALL(Alltoall) CALL(Alltoallv) CALL(Barrier) CALL(Bcast) CALL(Cancel)      \
    CALL(Comm_call_errhandler) CALL(Comm_create_keyval) CALL(Comm_delete_attr) \
    CALL(Comm_disconnect) CALL(Comm_dup) CALL(Comm_free) CALL(Comm_get_attr)   \
    CALL(Comm_get_errhandler) CALL(Comm_group) CALL(Comm_rank)                 \
    CALL(Comm_set_attr) CALL(Comm_set_errhandler) CALL(Comm_size)              \
    CALL(Comm_split) CALL(Comm_split_type) CALL(Comm_test_inter)               \
    CALL(Errhandler_free) CALL(Error_string) CALL(Finalize) CALL(Gather)       \
    CALL(Gatherv) CALL(Group_free) CALL(Group_translate_ranks)                 \
    CALL(Iallgather) CALL(Iallgatherv) CALL(Iallreduce) CALL(Ialltoall)        \
    CALL(Ialltoallv) CALL(Ibarrier) CALL(Ibcast) CALL(Igather) CALL(Igatherv)  \
    CALL(Init) CALL(Init_thread) CALL(Initialized) CALL(Iprobe) CALL(Irecv)    \
    CALL(Ireduce) CALL(Iscatter) CALL(Iscatterv) CALL(Isend) CALL(Pack)        \
    CALL(Query_thread) CALL(Recv_init) CALL(Reduce) CALL(Reduce_local)         \
    CALL(Request_free) CALL(Request_get_status) CALL(Scatter) CALL(Scatterv)   \
    CALL(Start) CALL(Startall) CALL(Test) CALL(Testall) CALL(Testany)          \
    CALL(Testsome) CALL(Type_dup) CALL(Type_free) CALL(Type_get_contents)      \
    CALL(Type_get_envelope) CALL(Type_get_extent) CALL(Type_size)              \
    CALL(Type_size_x) CALL(Unpack) CALL(Wait) CALL(Waitall) CALL(Waitany)      \
    CALL(Waitsome)

/* Those that an MPI may lack. */
#define PMPI_NEWER(CALL)                                                       \
    CALL(Allgather_init) CALL(Allgatherv_init) CALL(Allreduce_init)            \
    CALL(Alltoall_init) CALL(Alltoallv_init) CALL(Barrier_init)                \
    CALL(Bcast_init) CALL(Gather_init) CALL(Gatherv_init) CALL(Reduce_init)    \
    CALL(Request_get_status_all) CALL(Request_get_status_any)                  \
    CALL(Request_get_status_some) CALL(Scatter_init) CALL(Scatterv_init)

#if MPI_VERSION >= 4
#define PMPI_LARGE(CALL)                                                       \
    CALL(Allgather_c) CALL(Allgather_init_c) CALL(Allgatherv_c)                \
    CALL(Allgatherv_init_c) CALL(Allreduce_c) CALL(Allreduce_init_c)           \
    CALL(Alltoall_c) CALL(Alltoall_init_c) CALL(Alltoallv_c)                   \
    CALL(Alltoallv_init_c) CALL(Bcast_c) CALL(Bcast_init_c) CALL(Gather_c)     \
    CALL(Gather_init_c) CALL(Gatherv_c) CALL(Gatherv_init_c)                   \
    CALL(Iallgather_c) CALL(Iallreduce_c) CALL(Ialltoall_c) CALL(Ibcast_c)     \
    CALL(Igather_c) CALL(Ireduce_c) CALL(Iscatter_c) CALL(Reduce_c)            \
    CALL(Reduce_init_c) CALL(Scatter_c) CALL(Scatter_init_c) CALL(Scatterv_c)  \
    CALL(Scatterv_init_c)
#else
#define PMPI_LARGE(CALL)
#endif

/* MPICH's are macros. */
#ifdef OPEN_MPI
#define PMPI_HANDLES(CALL)                                                     \
    CALL(Comm_c2f) CALL(Comm_f2c) CALL(Info_f2c) CALL(Op_f2c)                  \
    CALL(Request_c2f) CALL(Request_f2c) CALL(Type_f2c)
#elif !defined MPICH_NUMVERSION
#define PMPI_HANDLES(CALL)                                                     \
    CALL(Comm_fromint) CALL(Comm_toint) CALL(Info_fromint)                     \
    CALL(Request_fromint) CALL(Request_toint)
#else
#define PMPI_HANDLES(CALL)
#endif

/* clang-format on */
#define PMPI_CALLS(CALL)                                                       \
    PMPI_ALL(CALL) PMPI_NEWER(CALL) PMPI_LARGE(CALL) PMPI_HANDLES(CALL)

extern struct pmpi {
    _Atomic bool is_found;
#define CALL(name) __typeof__(PMPI_##name) *name;
    PMPI_CALLS(CALL)
#undef CALL
} pmpi;

/* Looks them up. What the MPI below lacks is an error of MPI. */
void pmpi_find(void);

/* Before the first of them, by whatever the program may call first. */
static inline void pmpi_ready(void)
{
    if (!atomic_load_explicit(&pmpi.is_found, memory_order_acquire))
        pmpi_find();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the MPI below: pmpi.Allgather(…) calls PMPI_Allgather. They
 * are looked up at run time, as this library needs no symbol of MPI: it is also
 * preloaded into programs without MPI, even with LD_BIND_NOW, and a program may
 * load its MPI later.
 */
#ifndef MPI_PMPI_H
#define MPI_PMPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "mpi/below/newer.h"
#include "mpi/calls/signatures.h"

/* clang-format off */

/* What follows expands to CALL(name) for each function. */
#define PMPI_OTHER                                                             \
    CALL(Abort) CALL(Add_error_class) CALL(Add_error_code)                     \
    CALL(Add_error_string) CALL(Cancel) CALL(Cart_shift) CALL(Cartdim_get)     \
    CALL(Comm_call_errhandler) CALL(Comm_create_keyval)                        \
    CALL(Comm_delete_attr) CALL(Comm_disconnect)                               \
    CALL(Comm_dup) CALL(Comm_free) CALL(Comm_get_attr)                         \
    CALL(Comm_get_errhandler) CALL(Comm_group) CALL(Comm_rank)                 \
    CALL(Comm_set_attr) CALL(Comm_set_errhandler) CALL(Comm_size)              \
    CALL(Comm_split) CALL(Comm_split_type) CALL(Comm_test_inter)               \
    CALL(Dist_graph_neighbors) CALL(Dist_graph_neighbors_count)                \
    CALL(Errhandler_free) CALL(Error_string) CALL(Finalize)                    \
    CALL(Graph_neighbors) CALL(Graph_neighbors_count) CALL(Group_free)         \
    CALL(Group_size) CALL(Group_translate_ranks) CALL(Init) CALL(Init_thread)  \
    CALL(Initialized) CALL(Iprobe) CALL(Irecv) CALL(Isend) CALL(Pack)          \
    CALL(Query_thread) CALL(Recv_init) CALL(Reduce_local) CALL(Request_free)   \
    CALL(Request_get_status) CALL(Start) CALL(Startall) CALL(Test)             \
    CALL(Testall) CALL(Testany) CALL(Testsome) CALL(Topo_test)                 \
    CALL(Type_dup) CALL(Type_free) CALL(Type_get_contents)                     \
    CALL(Type_get_envelope) CALL(Type_get_extent)                              \
    CALL(Type_get_true_extent)                                                 \
    CALL(Type_size) CALL(Type_size_x) CALL(Unpack) CALL(Wait) CALL(Waitall)    \
    CALL(Waitany) CALL(Waitsome)

/* Collectives of MPI 3. */
#define PMPI_OLD_FORMS(Name, name, ...) CALL(Name) CALL(I##name)

/* An MPI may lack these: persistent collectives (MPI 4), more of MPI 4.1, … */
#define PMPI_INIT_FORM(Name, ...) CALL(Name##_init)
#define PMPI_NEWER                                                             \
    COLLECTIVES(PMPI_INIT_FORM)                                                \
    CALL(Request_get_status_all) CALL(Request_get_status_any)                  \
    CALL(Request_get_status_some)

/* … and large counts. */
#if MPI_VERSION >= 4
#define PMPI_LARGE_FORMS(Name, ...)             CALL(Name##_c) CALL(Name##_init_c)
#define PMPI_LARGE_NONBLOCKING(Name, name, ...) CALL(I##name##_c)
#define PMPI_LARGE                                                             \
    LARGE_COLLECTIVES(PMPI_LARGE_FORMS)                                        \
    LARGE_NONBLOCKING(PMPI_LARGE_NONBLOCKING)
#else
#define PMPI_LARGE
#endif

/* Conversions of handles; MPICH's are macros. */
#ifdef OPEN_MPI
#define PMPI_HANDLES                                                     \
    CALL(Comm_c2f) CALL(Comm_f2c) CALL(Info_f2c) CALL(Op_f2c)                  \
    CALL(Request_c2f) CALL(Request_f2c) CALL(Type_f2c)
#elif !defined MPICH_NUMVERSION
#define PMPI_HANDLES                                                     \
    CALL(Comm_fromint) CALL(Comm_toint) CALL(Info_fromint)                     \
    CALL(Request_fromint) CALL(Request_toint)
#else
#define PMPI_HANDLES
#endif

#define PMPI_CALLS                                                             \
    PMPI_OTHER COLLECTIVES(PMPI_OLD_FORMS) PMPI_NEWER PMPI_LARGE PMPI_HANDLES

/* clang-format on */

extern struct pmpi {
    _Atomic bool is_found;
#define CALL(name) __typeof__(PMPI_##name) *name;
    PMPI_CALLS
#undef CALL
} pmpi;

/* For programs that outlive a rank: extensions of Open MPI 5 and MPICH. NULL:
 * the MPI below lacks them. */
extern struct pmpix {
    int (*Comm_revoke)(MPI_Comm comm);
    int (*Comm_shrink)(MPI_Comm comm, MPI_Comm *shrunk);
    int (*Comm_get_failed)(MPI_Comm comm, MPI_Group *failed);
} pmpix;

/* The classes of errors that such programs look for. */
#if defined MPIX_ERR_PROC_FAILED
#define CLASS_DIED    MPIX_ERR_PROC_FAILED
#define CLASS_REVOKED MPIX_ERR_REVOKED
#elif defined MPI_ERR_PROC_FAILED
#define CLASS_DIED    MPI_ERR_PROC_FAILED
#define CLASS_REVOKED MPI_ERR_REVOKED
#else
#define CLASS_DIED    MPI_ERR_OTHER
#define CLASS_REVOKED MPI_ERR_OTHER
#endif

/* Looks them up. A function that the MPI below lacks returns an MPI error. */
void pmpi_find(void);

/* In each function that the program may call first. */
static inline void pmpi_ready(void)
{
    if (!atomic_load_explicit(&pmpi.is_found, memory_order_acquire))
        pmpi_find();
}

#endif

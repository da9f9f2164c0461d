/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collectives that this library takes over, one row each. All that depends
 * on a signature is generated from these rows:
 *
 *     calls/calls.c    MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, and,
 *                      with large counts, MPI_Allgather_c and so on
 *     calls/fortran.c  the same for Fortran
 *     below/forward.c  calls of the same functions of the MPI below
 *     below/pmpi.h     pointers to these
 *     below/newer.h    declarations that an older mpi.h lacks
 *
 * A row is X(Name, name, NAME, sent, received, more): the name as C and Fortran
 * write it, then three macros with its arguments in MPI's order. Such a macro
 * takes a macro A and expands to A(kind, member) for each argument: its kind
 * (see below), and the member of struct layer_call that holds it. All
 * signatures continue with the communicator; then follow, in the forms that
 * have them, info and request.
 */
#ifndef MPI_SIGNATURES_H
#define MPI_SIGNATURES_H

/* clang-format off */

#define REGULAR(X)                                                             \
    X(Allgather, allgather, ALLGATHER, SEND_BLOCK, RECV_BLOCK, NOTHING)        \
    X(Gather, gather, GATHER, SEND_BLOCK, RECV_BLOCK, ROOT)                    \
    X(Scatter, scatter, SCATTER, SEND_BLOCK, RECV_BLOCK, ROOT)                 \
    X(Alltoall, alltoall, ALLTOALL, SEND_BLOCK, RECV_BLOCK, NOTHING)           \
    X(Bcast, bcast, BCAST, NOTHING, RECV_BLOCK, ROOT)                          \
    X(Allreduce, allreduce, ALLREDUCE, SEND_BUFFER, RECV_BLOCK, OPERATION)     \
    X(Reduce, reduce, REDUCE, SEND_BUFFER, RECV_BLOCK, OPERATION_ROOT)         \
    X(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK,        \
      SEND_BUFFER, RECV_BLOCK, OPERATION)                                      \
    X(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, SEND_BUFFER,             \
      RECV_COUNTS, OPERATION)                                                  \
    X(Scan, scan, SCAN, SEND_BUFFER, RECV_BLOCK, OPERATION)                    \
    X(Exscan, exscan, EXSCAN, SEND_BUFFER, RECV_BLOCK, OPERATION)

#define ONE_TYPE(X)                                                            \
    X(Alltoallv, alltoallv, ALLTOALLV, SEND_BLOCKS, RECV_BLOCKS, NOTHING)      \
    X(Allgatherv, allgatherv, ALLGATHERV, SEND_BLOCK, RECV_BLOCKS, NOTHING)    \
    X(Gatherv, gatherv, GATHERV, SEND_BLOCK, RECV_BLOCKS, ROOT)                \
    X(Scatterv, scatterv, SCATTERV, SEND_BLOCKS, RECV_BLOCK, ROOT)             \
    X(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, SEND_BLOCK,  \
      RECV_BLOCK, NOTHING)                                                     \
    X(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV,           \
      SEND_BLOCK, RECV_BLOCKS, NOTHING)                                        \
    X(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, SEND_BLOCK,     \
      RECV_BLOCK, NOTHING)                                                     \
    X(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, SEND_BLOCKS, \
      RECV_BLOCKS, NOTHING)

/* Not for Fortran, whose types would have to be converted. */
#define MANY_TYPES(X)                                                          \
    X(Alltoallw, alltoallw, ALLTOALLW, SEND_TYPED, RECV_TYPED, NOTHING)        \
    X(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALLW,              \
      SEND_TYPED_AT, RECV_TYPED_AT, NOTHING)

#define IRREGULAR(X) ONE_TYPE(X) MANY_TYPES(X)

#define BARRIER(X) X(Barrier, barrier, BARRIER, NOTHING, NOTHING, NOTHING)

/* With int counts: blocking, non-blocking and persistent. */
#define COLLECTIVES(X) REGULAR(X) IRREGULAR(X) BARRIER(X)
/* With large counts (MPI 4): blocking and persistent, … */
#define LARGE_COLLECTIVES(X) REGULAR(X) IRREGULAR(X)
/* … and non-blocking. Not MPI_Ialltoallv_c and its kind: a rank can't know, and
 * may not wait to hear, whether the counts of another rank are too large. */
#define LARGE_NONBLOCKING(X) REGULAR(X)

#define NOTHING(A)
#define SEND_BUFFER(A) A(IN, send)
#define SEND_BLOCK(A)  A(IN, send) A(COUNT, send_count) A(TYPE, send_type)
#define SEND_BLOCKS(A)                                                         \
    A(IN, send) A(COUNTS, send_counts) A(DISPLS, send_displs)                  \
    A(TYPE, send_type)
#define TYPED(A, BUFFER, side, DISPLACEMENTS)                                  \
    A(BUFFER, side) A(COUNTS, side##_counts)                                   \
    A(DISPLACEMENTS, side##_displs) A(TYPES, side##_types)
#define SEND_TYPED(A)    TYPED(A, IN, send, DISPLS)
#define SEND_TYPED_AT(A) TYPED(A, IN, send, PLACES)
#define RECV_BLOCK(A) A(OUT, recv) A(COUNT, recv_count) A(TYPE, recv_type)
#define RECV_COUNTS(A)                                                         \
    A(OUT, recv) A(COUNTS, recv_counts) A(TYPE, recv_type)
#define RECV_BLOCKS(A)                                                         \
    A(OUT, recv) A(COUNTS, recv_counts) A(DISPLS, recv_displs)                 \
    A(TYPE, recv_type)
#define RECV_TYPED(A)    TYPED(A, OUT, recv, DISPLS)
#define RECV_TYPED_AT(A) TYPED(A, OUT, recv, PLACES)
#define ROOT(A)           A(RANK, root)
#define OPERATION(A)      A(OP, op)
#define OPERATION_ROOT(A) A(OP, op) A(RANK, root)

/* The kinds of arguments, and their types with int and with large counts. */
#define IN_INT       const void *
#define IN_LARGE     const void *
#define OUT_INT      void *
#define OUT_LARGE    void *
#define COUNT_INT    int
#define COUNT_LARGE  MPI_Count
#define COUNTS_INT   const int *
#define COUNTS_LARGE const MPI_Count *
#define DISPLS_INT   const int *
#define DISPLS_LARGE const MPI_Aint *
#define PLACES_INT   const MPI_Aint *
#define PLACES_LARGE const MPI_Aint *
#define TYPES_INT    const MPI_Datatype *
#define TYPES_LARGE  const MPI_Datatype *
#define TYPE_INT     MPI_Datatype
#define TYPE_LARGE   MPI_Datatype
#define OP_INT       MPI_Op
#define OP_LARGE     MPI_Op
#define RANK_INT     int
#define RANK_LARGE   int

/* clang-format on */

#endif

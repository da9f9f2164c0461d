/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallw, and collectives between neighbours on a line of all ranks. */
#ifndef BENCH_PEERS_NEIGHBOR_H
#define BENCH_PEERS_NEIGHBOR_H

#include <mpi.h>
#include <stdint.h>

typedef enum neighbor_call {
    ALLTOALLW, /* between all ranks */
    NEIGHBOR_ALLGATHER,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    NEIGHBOR_CALLS
} neighbor_call_t;

/** A rank's arguments: blocks of equal size. */
typedef struct neighbor {
    MPI_Comm line;
    int bytes;
    int *counts, *displs;
    MPI_Aint *places;
    MPI_Datatype *types;
} neighbor_t;

/** 0: all is there; -1: no memory, or too many bytes. neighbor_close in either
 *  case. All ranks. */
int neighbor_open(neighbor_t *n, uint64_t bytes);
void neighbor_close(neighbor_t *n);
/** Both buffers have a block for each rank, and for each of two neighbours. */
void neighbor_perform(const neighbor_t *n, neighbor_call_t call,
                      const char *send, char *recv);

#endif

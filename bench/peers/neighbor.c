/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdlib.h>

#include "neighbor.h"

enum { NEIGHBORS = 2 };

int neighbor_open(neighbor_t *n, uint64_t bytes)
{
    int ranks, open = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t blocks = ranks > NEIGHBORS ? (size_t)ranks : NEIGHBORS;
    *n = (neighbor_t){.bytes = (int)bytes,
                      .counts = calloc(blocks, sizeof *n->counts),
                      .displs = calloc(blocks, sizeof *n->displs),
                      .places = calloc(blocks, sizeof *n->places),
                      .types = calloc(blocks, sizeof *n->types)};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &open, 0, &n->line);
    if (!n->counts || !n->displs || !n->places || !n->types ||
        bytes > INT_MAX / blocks)
        return -1;
    for (size_t i = 0; i < blocks; i++) {
        n->counts[i] = n->bytes;
        n->displs[i] = (int)i * n->bytes;
        n->places[i] = n->displs[i];
        n->types[i] = MPI_CHAR;
    }
    return 0;
}

void neighbor_close(neighbor_t *n)
{
    MPI_Comm_free(&n->line);
    free(n->counts);
    free(n->displs);
    free(n->places);
    free(n->types);
}

void neighbor_perform(const neighbor_t *n, neighbor_call_t call,
                      const char *send, char *recv)
{
    switch (call) {
    case ALLTOALLW:
        MPI_Alltoallw(send, n->counts, n->displs, n->types, recv, n->counts,
                      n->displs, n->types, MPI_COMM_WORLD);
        break;
    case NEIGHBOR_ALLGATHER:
        MPI_Neighbor_allgather(send, n->bytes, MPI_CHAR, recv, n->bytes,
                               MPI_CHAR, n->line);
        break;
    case NEIGHBOR_ALLGATHERV:
        MPI_Neighbor_allgatherv(send, n->bytes, MPI_CHAR, recv, n->counts,
                                n->displs, MPI_CHAR, n->line);
        break;
    case NEIGHBOR_ALLTOALL:
        MPI_Neighbor_alltoall(send, n->bytes, MPI_CHAR, recv, n->bytes,
                              MPI_CHAR, n->line);
        break;
    case NEIGHBOR_ALLTOALLV:
        MPI_Neighbor_alltoallv(send, n->counts, n->displs, MPI_CHAR, recv,
                               n->counts, n->displs, MPI_CHAR, n->line);
        break;
    case NEIGHBOR_ALLTOALLW:
        MPI_Neighbor_alltoallw(send, n->counts, n->places, n->types, recv,
                               n->counts, n->places, n->types, n->line);
        break;
    case NEIGHBOR_CALLS:
        break;
    }
}

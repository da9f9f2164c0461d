/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallv by the patterns of railbench alltoallv. */
#ifndef BENCH_PEERS_VECTOR_H
#define BENCH_PEERS_VECTOR_H

#include <mpi.h>

#include "bench/counts/counts.h"

/** What is to be done. */
typedef struct vector_run {
    counts_kind_t pattern;
    uint64_t element; /**< bytes */
} vector_run_t;

/** A rank's part. */
typedef struct vector {
    int rank, ranks;
    size_t element;
    int *sent, *sent_at, *received, *received_at;
    char *send, *recv;
    MPI_Datatype type;
} vector_t;

/** PATTERN-ELEMENT, up to @p end. @return behind that, or NULL. */
const char *vector_parse(const char *text, char end, vector_run_t *run);

/** 0: all is there; vector_close in either case. */
int vector_open(vector_t *v, const vector_run_t *run, uint64_t m);
void vector_close(vector_t *v);
void vector_perform(const vector_t *v);
/** With contents that tell where they come from; all ranks. 0: all came. */
int vector_check(const vector_t *v);

#endif

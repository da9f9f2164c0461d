/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of an irregular call, one for each rank. */
#ifndef MPI_BLOCKS_H
#define MPI_BLOCKS_H

#include "mpi/run/run.h"

/* The blocks that a rank sends, or receives. */
struct blocks {
    char *user;
    MPI_Count *counts, *displs; /* for each rank */
    MPI_Datatype type;
    MPI_Aint extent;
    size_t size; /* of an element */
    bool contiguous;
    bool same;              /* all ranks get the same block */
    bool has_long;          /* some are too long for dcoll */
    char *data;             /* the user's, or packed */
    size_t *bytes, *places; /* of each rank's block in data; bytes 0: none, or
                               too long */
    size_t all;             /* bytes, packed */
};

/* Are the arguments right, as far as this rank can see? */
bool blocks_are_right(const struct layer_comm *c,
                      const struct layer_call *call);
/* Reserves what each call needs for its counts. NULL: no memory. */
void *blocks_reserve(struct layer_comm *c);
/* What this rank sends and receives in the call. @counts, @sent, @received:
 * memory for the counts and for packed blocks. An MPI error. */
int blocks_open(const struct layer_comm *c, const struct layer_call *call,
                struct buffer *counts, struct buffer *sent,
                struct buffer *received, struct blocks *send,
                struct blocks *recv);
/* Between the user's blocks and packed ones, one after another. MPI errors. */
int blocks_pack(const struct blocks *s, const struct layer_comm *c,
                char *packed);
int blocks_unpack(const struct blocks *s, const struct layer_comm *c,
                  const char *packed);
/* Begins messages for blocks that are too long. Sender and receiver of such a
 * block both know it. An MPI error. */
int blocks_exchange_long(struct long_blocks *l, const struct layer_comm *c,
                         const struct blocks *send, const struct blocks *recv);

#endif

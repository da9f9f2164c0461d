/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of an irregular call: one for each rank, or for each neighbour. */
#ifndef MPI_BLOCKS_H
#define MPI_BLOCKS_H

#include "mpi/run/run.h"

/* Elements for one rank, or from it. */
struct block {
    int rank; /* MPI_PROC_NULL: none */
    MPI_Count count;
    MPI_Aint at; /* bytes behind the user's address */
    MPI_Datatype type;
    size_t size;   /* of an element */
    size_t bytes;  /* 0: none, or too long */
    size_t packed; /* its place among packed blocks, … */
    size_t place;  /* … and in data */
    bool is_long;  /* too long for dcoll */
};

/* The blocks that a rank sends, or receives. */
struct blocks {
    char *user;
    struct block *each;
    int n;
    bool contiguous; /* dcoll may use the user's data */
    bool same;       /* all ranks get the same block */
    bool replaced;   /* by those received: they must be packed */
    bool has_long;
    char *data;             /* the user's, or packed */
    size_t *bytes, *places; /* of each rank's block in data; of a neighbour's
                               several: of all, and of the last */
    dcoll_block_t *listed;  /* … who may have several: for dcoll */
    size_t all;             /* bytes, packed */
};

/* Are the arguments right, as far as this rank can see? */
bool blocks_are_right(const struct layer_comm *c,
                      const struct layer_call *call);
/* Is a count negative? */
bool blocks_have_negative(const struct layer_comm *c,
                          const struct layer_call *call);
/* Reserves what each call needs for its counts. NULL: no memory. */
void *blocks_reserve(struct layer_comm *c);
/* What this rank sends and receives in the call. @counts, @sent, @received:
 * memory for the counts and for packed blocks. An MPI error. */
int blocks_open(const struct layer_comm *c, const struct layer_call *call,
                struct buffer *counts, struct buffer *sent,
                struct buffer *received, struct blocks *send,
                struct blocks *recv);
/* Another layout for one block of each rank: without gaps, in the order of the
 * ranks, of so many bytes (also where @s counts none, in place). In the user's
 * memory, if the blocks are so there, else packed into @buffer. An MPI error.
 */
int blocks_place(struct blocks *s, const struct layer_comm *c,
                 const size_t *counts, struct buffer *buffer);
/* Between the user's blocks and packed ones, one after another. MPI errors. */
int blocks_pack(const struct blocks *s, const struct layer_comm *c,
                char *packed);
int blocks_unpack(const struct blocks *s, const struct layer_comm *c,
                  const char *packed);
/* The same for one block: this rank's, of so many bytes, which @s need not
 * count (in place; each rank has one block); block @i. */
int blocks_pack_own(const struct blocks *s, const struct layer_comm *c,
                    size_t bytes, char *packed);
int blocks_unpack_one(const struct blocks *s, const struct layer_comm *c, int i,
                      const char *packed);
/* References to the types, which the program may free meanwhile. Release them
 * also after an MPI error. */
int blocks_keep_types(struct blocks *s);
void blocks_release_types(struct blocks *s);
/* Begins messages for blocks that are too long. Sender and receiver of such a
 * block both know it. An MPI error. */
int blocks_exchange_long(struct long_blocks *l, const struct layer_comm *c,
                         const struct blocks *send, const struct blocks *recv);

#endif

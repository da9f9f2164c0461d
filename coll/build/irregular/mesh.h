/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any number of ranks as an array of rows and columns, and exchanges in it
 * (Liu et al. 2002, section 3.2). Rank p is in row p / C and column p %
 * C. The last row may be incomplete, with r ranks: then r columns have R ranks
 * each, and the other, incomplete columns have R - 1.
 */
#ifndef DCOLL_MESH_H
#define DCOLL_MESH_H

#include <stdbool.h>

/**
 * C = ⌈√P⌉ columns and R = ⌈P / C⌉ rows. For P = ⌈√P⌉⌊√P⌋ - 1 the incomplete
 * row would have more ranks than there are complete rows: then C = ⌊√P⌋ (3.2.2
 * A).
 */
struct mesh {
    unsigned ranks, columns, rows;
    unsigned rest; /**< r: ranks of the incomplete row; 0: there is none */
};

struct mesh mesh_of(unsigned nranks);
/** Is the number of ranks a perfect square? */
bool mesh_is_square(const struct mesh *mesh);

static inline unsigned mesh_row(const struct mesh *mesh, unsigned rank)
{
    return rank / mesh->columns;
}

static inline unsigned mesh_column(const struct mesh *mesh, unsigned rank)
{
    return rank % mesh->columns;
}

static inline bool mesh_row_complete(const struct mesh *mesh, unsigned row)
{
    return !mesh->rest || row + 1 < mesh->rows;
}

/** The number of ranks in a column. */
static inline unsigned mesh_height(const struct mesh *mesh, unsigned column)
{
    return mesh->rest && column >= mesh->rest ? mesh->rows - 1 : mesh->rows;
}

/**
 * An all-to-all within groups of ranks: what each rank sends in which step. A
 * rank has one bucket for each member of its group, and one place for each
 * sender.
 */
struct exchange {
    /** The number of buckets of @p rank. */
    unsigned (*buckets)(const struct mesh *mesh, unsigned rank);
    /** The number of steps; they count from 1. */
    unsigned (*steps)(const struct mesh *mesh, unsigned rank);
    /** The bucket that @p rank sends in @p step. False: it stalls. */
    bool (*bucket)(const struct mesh *mesh, unsigned rank, unsigned step,
                   unsigned *bucket);
    /** The rank that a bucket is for. */
    unsigned (*target)(const struct mesh *mesh, unsigned rank, unsigned bucket);
    /** The sender number @p index of @p rank, which is also the number of its
     * place. False: there are no more. */
    bool (*source)(const struct mesh *mesh, unsigned rank, unsigned index,
                   unsigned *source);
};

/** Among all ranks: in step i to the rank i after it, at last to itself. */
extern const struct exchange exchange_all;
/** Along columns (C-Comm with the C-Schedule, fig. 6). */
extern const struct exchange exchange_columns;
/**
 * Along rows (R-Comm with the Revised R-Schedule, 3.2.2 A, B). The elements for
 * the pseudo-node in column j of the incomplete row go from that row's rank i
 * to the rank in row i, column j. For that, ranks stall, so that none receives
 * two messages in a step. (The paper's text has the stall one step too late:
 * its figure 10 has it at r - m + k, and only that is free of conflicts.)
 */
extern const struct exchange exchange_rows;

/** The rank that sends to @p rank in @p step, and its place. False: none. */
bool exchange_sender(const struct exchange *x, const struct mesh *mesh,
                     unsigned rank, unsigned step, unsigned *sender,
                     unsigned *place);
/** The place of messages of @p sender at @p rank. */
unsigned exchange_place(const struct exchange *x, const struct mesh *mesh,
                        unsigned rank, unsigned sender);
/** The number of senders of @p rank. */
unsigned exchange_sources(const struct exchange *x, const struct mesh *mesh,
                          unsigned rank);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as an array of rows and columns, for any number of them, and the
 * exchanges in it (seed 003, section 3.2). Row-major: rank p is in row p / C,
 * column p % C. The last row may be incomplete; then its r ranks have a column
 * of R ranks each, and the other columns, the incomplete ones, R - 1.
 */
#ifndef DCOLL_MESH_H
#define DCOLL_MESH_H

#include <stdbool.h>

/**
 * C = ⌈√P⌉ columns and R = ⌈P / C⌉ rows. For P = ⌈√P⌉⌊√P⌋ - 1 the incomplete
 * row would be longer than there are complete ones: then C = ⌊√P⌋ (3.2.2 A).
 */
struct mesh {
    unsigned ranks, columns, rows;
    unsigned rest; /**< r: ranks of the incomplete row; 0: all are complete */
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

/** Ranks of a column. */
static inline unsigned mesh_height(const struct mesh *mesh, unsigned column)
{
    return mesh->rest && column >= mesh->rest ? mesh->rows - 1 : mesh->rows;
}

/**
 * An all-to-all within groups of ranks: what a rank sends to whom in which
 * step. A message comes from a bucket, one for each member of the group, and
 * goes to a place of the target, one for each of its senders.
 */
struct exchange {
    /** Buckets of @p rank. */
    unsigned (*buckets)(const struct mesh *mesh, unsigned rank);
    /** Steps, counted from 1. */
    unsigned (*steps)(const struct mesh *mesh, unsigned rank);
    /** The bucket that @p rank sends in @p step. False: none, it stalls. */
    bool (*bucket)(const struct mesh *mesh, unsigned rank, unsigned step,
                   unsigned *bucket);
    /** Whom the bucket is for. */
    unsigned (*target)(const struct mesh *mesh, unsigned rank, unsigned bucket);
    /** Who may send to @p rank: the @p index-th. False: there are no more.
     *  The index is also that of the place at the target. */
    bool (*source)(const struct mesh *mesh, unsigned rank, unsigned index,
                   unsigned *source);
};

/** Among all ranks; in step i to the i-th after it, at last to itself. */
extern const struct exchange exchange_all;
/** Along columns (C-Comm with the C-Schedule, fig. 6). */
extern const struct exchange exchange_columns;
/**
 * Along rows (R-Comm with the Revised R-Schedule, 3.2.2 A, B). What is for the
 * pseudo-node in column j of the incomplete row goes from its i-th rank to that
 * of row i, column j. There ranks stall, so that nobody receives two messages
 * in a step. (In the seed's sentence the step of the stall is one too late: its
 * own fig. 10 has it at r - m + k, and only that is free of conflicts.)
 */
extern const struct exchange exchange_rows;

/** Who sends to @p rank in @p step, and the place it goes to. False: nobody. */
bool exchange_sender(const struct exchange *x, const struct mesh *mesh,
                     unsigned rank, unsigned step, unsigned *sender,
                     unsigned *place);
/** The place of the messages of @p sender at @p rank. */
unsigned exchange_place(const struct exchange *x, const struct mesh *mesh,
                        unsigned rank, unsigned sender);
/** How many may send to @p rank. */
unsigned exchange_sources(const struct exchange *x, const struct mesh *mesh,
                          unsigned rank);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The table that `auto` selects by, as `railbench tune` has measured it: a text
 * file that says which machine and library it is of. One line for each case
 * that was measured, and the fastest algorithm there:
 *
 *   dcoll-table 3
 *   library 0.2.0
 *   cpu Some processor
 *   cores 2
 *   # further lines of environment
 *   collective ranks ppn ports engine bytes algorithm zero_copy us lo hi
 *   allgather 4 4 2 nonthreaded 1024 shm-allgather 0 1.23 1.2 1.25
 */
#ifndef DCOLL_TABLE_H
#define DCOLL_TABLE_H

#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Changes when old readers would err. */
#define DCOLL_TABLE_FORMAT 3
#define DCOLL_TABLE_TEXT   128
#define DCOLL_TABLE_RAILS  1024

typedef struct dcoll_table_row {
    dcoll_collective_t collective;
    unsigned ranks, ppn, ports;
    drail_engine_t engine; /**< that moved the messages */
    uint64_t bytes;        /**< of one block */
    const dcoll_algorithm_t *algorithm;
    bool zero_copy;
    double us, lo, hi; /**< median and its 95 % confidence interval,
                            or a range, as the environment says */
} dcoll_table_row_t;

typedef struct dcoll_table {
    dcoll_table_row_t *rows;
    unsigned count;
} dcoll_table_t;

/**
 * Reads and checks a table. @return 0; DRAIL_EINVAL with a sentence in @p why
 * when there is none, it is malformed, of another machine (CPU model, cores) or
 * other rails, or stale: of another format, another version of the library, or
 * with unknown algorithms or engines; DRAIL_ENOMEM. dcoll_table_free in either
 * case.
 * @param rails names as dcoll_table_add_rail joins them; simulated ones follow
 * the name of their cluster.
 */
int dcoll_table_load(const char *path, const char *rails, dcoll_table_t *table,
                     char *why, size_t size);
/** Adds a name to a list of DCOLL_TABLE_RAILS bytes that begins as "". */
void dcoll_table_add_rail(char *rails, const char *name);
void dcoll_table_free(dcoll_table_t *table);

/** Writes what dcoll_table_load reads on this machine. @p environment: lines
 *  that each begin with '#', or NULL. Errors of writing stay in the FILE. */
void dcoll_table_write(FILE *file, const dcoll_table_t *table,
                       const char *rails, const char *environment);

/** Keeps the rows of this shape, in their order; of all engines, which may
 *  change between calls. */
void dcoll_table_keep(dcoll_table_t *table, const dcoll_shape_t *shape);
/** Tables that choose the same have the same. */
uint64_t dcoll_table_checksum(const dcoll_table_t *table);

/** The algorithm that `auto` means; sets args->zero_copy. By rows of the engine
 *  in use only: it decides what messages cost beside copies. @p table may be
 *  NULL. Never NULL: there is one for every case. */
const dcoll_algorithm_t *dcoll_table_select(const dcoll_table_t *table,
                                            drail_engine_t engine,
                                            const dcoll_shape_t *shape,
                                            dcoll_args_t *args);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

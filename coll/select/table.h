/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The table by which `auto` selects, written by `railbench tune`: a text file.
 * It names the machine and the library, then has one line for each measured
 * case with the fastest algorithm:
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

/** Changes when older libraries could not read the file. */
#define DCOLL_TABLE_FORMAT 3
#define DCOLL_TABLE_TEXT   128
#define DCOLL_TABLE_RAILS  1024

typedef struct dcoll_table_row {
    dcoll_collective_t collective;
    unsigned ranks, ppn, ports;
    drail_engine_t engine; /**< the engine that was measured */
    uint64_t bytes;        /**< of one block */
    const dcoll_algorithm_t *algorithm;
    bool zero_copy;
    double us, lo, hi; /**< median and its 95 % confidence interval, or a range,
                            as the lines of environment tell */
} dcoll_table_row_t;

typedef struct dcoll_table {
    dcoll_table_row_t *rows;
    unsigned count;
} dcoll_table_t;

/**
 * Reads and checks a table. dcoll_table_free() in either case.
 * @param rails the rails in use, joined by dcoll_table_add_rail(); names of
 * simulated rails follow the name of their cluster.
 * @param why filled with one sentence on failure. @param size bytes of @p why.
 * @return 0; DRAIL_ENOMEM; DRAIL_EINVAL: the file is missing, malformed, of
 * another machine (CPU model, cores), of other rails, of another format or
 * version of the library, or has unknown algorithms or engines.
 */
int dcoll_table_load(const char *path, const char *rails, dcoll_table_t *table,
                     char *why, size_t size);
/** Adds a name to @p rails, an array of DCOLL_TABLE_RAILS bytes that begins as
 * "". */
void dcoll_table_add_rail(char *rails, const char *name);
void dcoll_table_free(dcoll_table_t *table);

/** Writes a table that dcoll_table_load() accepts on this machine.
 *  @param environment lines that begin with '#', or NULL. Check @p file for
 * errors of writing (ferror). */
void dcoll_table_write(FILE *file, const dcoll_table_t *table,
                       const char *rails, const char *environment);

/** Removes the rows of other shapes. Rows of all engines stay, as the engine
 * may change between calls. */
void dcoll_table_keep(dcoll_table_t *table, const dcoll_shape_t *shape);
/** Equal for tables that make the same choices. */
uint64_t dcoll_table_checksum(const dcoll_table_t *table);

/** The algorithm of `auto`; sets args->zero_copy. Uses rows of the engine in
 * use only, as it decides what messages cost beside copies.
 *  @param table may be NULL. @return never NULL. */
const dcoll_algorithm_t *dcoll_table_select(const dcoll_table_t *table,
                                            drail_engine_t engine,
                                            const dcoll_shape_t *shape,
                                            dcoll_args_t *args);
/** Then, between nodes, without a table: clears args->zero_copy for blocks of
 * fewer than @p least bytes, if the algorithm can copy them. */
void dcoll_table_copy_short(const dcoll_table_t *table,
                            const dcoll_shape_t *shape, dcoll_args_t *args,
                            const dcoll_algorithm_t *a, size_t least);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many elements each rank sends to each other: the patterns of Liu et al.
 * 2002 (fig. 14), more of the kind, and those of a file. Pure functions: the
 * same on all ranks, and in the programs that are compared.
 */
#ifndef BENCH_COUNTS_H
#define BENCH_COUNTS_H

#include <stddef.h>
#include <stdint.h>

typedef enum counts_kind {
    COUNTS_SPIKE,     /**< Pattern1: M to a random rank, a few to the rest */
    COUNTS_TRANSPOSE, /**< Pattern2: M to the rank at the transposed place of
                           the array of C = ceil(sqrt(ranks)) columns; where
                           there is none, to itself */
    COUNTS_UNIFORM,   /**< 0 … M, each as likely */
    COUNTS_ZIPF,      /**< M / (to + 1)^s to each rank: some are popular */
    COUNTS_ALLTOONE,  /**< M to rank 0, nothing else */
    COUNTS_FILE,      /**< M times what a file says */
    COUNTS_KINDS
} counts_kind_t;

/** The names, but that of COUNTS_FILE, which begins with "file:". */
extern const char *const counts_names[COUNTS_FILE];

typedef struct counts {
    counts_kind_t kind;
    unsigned ranks;
    uint64_t rest;   /**< spike, transpose: to the rest, at most M */
    double exponent; /**< zipf */
    uint64_t seed;   /**< spike, uniform */
    uint64_t *file;  /**< from rank i to rank j: i * ranks + j; owned */
} counts_t;

/** Elements from a rank to another. @p m: M_max of Liu et al. 2002. */
uint64_t counts_of(const counts_t *counts, uint64_t m, unsigned from,
                   unsigned to);

/** What a pattern amounts to, in elements. */
typedef struct counts_sums {
    uint64_t total;
    uint64_t moved;   /**< ... without what ranks have for themselves */
    uint64_t longest; /**< from one rank to another */
    uint64_t
        most; /**< sent, or received, by one rank: L_max of Liu et al. 2002 */
} counts_sums_t;

counts_sums_t counts_sum(const counts_t *counts, uint64_t m);

/**
 * Reads counts->file: as many lines as there are ranks, with as many numbers
 * from 0 to 2^32 - 1 between blanks, tabs or commas; blank lines and those from
 * '#' on do not count. @return 0, or -1 with the line and the column in @p why.
 */
int counts_read(counts_t *counts, const char *path, char *why, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of different sizes (--unequal): the block of rank r is (r + 1)/N of
 * the longest one, which is the last rank's, in whole elements. */
#ifndef BENCH_COLL_UNEQUAL_H
#define BENCH_COLL_UNEQUAL_H

#include <stddef.h>
#include <stdint.h>

/** Of one size. */
typedef struct unequal {
    size_t *counts; /**< of each rank's block, in elements */
    size_t *begin;  /**< bytes before each block, and at last of all */
} unequal_t;

/** Of all sizes. Contents of one that is not made: zeros. */
typedef struct unequal_sizes {
    const uint64_t *sizes;
    unsigned nsizes, ranks;
    size_t element;
    unequal_t *each;
} unequal_sizes_t;

/** @p s: without `each`. @return 0; -1: there is no memory. */
int unequal_make(unequal_sizes_t *s);
void unequal_free(unequal_sizes_t *s);
/** Those whose longest block has so many bytes, which is one of the sizes;
 *  NULL: none were made, so all blocks are equal. */
const unequal_t *unequal_of(const unequal_sizes_t *s, size_t bytes);

#endif

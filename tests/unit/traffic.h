/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of counts for irregular all-to-alls. */
#ifndef TESTS_TRAFFIC_H
#define TESTS_TRAFFIC_H

#include "coll/schedule.h"

enum traffic_pattern {
    TRAFFIC_NONE,      /**< nothing at all */
    TRAFFIC_EQUAL,     /**< the same for each pair */
    TRAFFIC_SPIKE,     /**< much for one at random, a little for others */
    TRAFFIC_TRANSPOSE, /**< the same for the transposed rank */
    TRAFFIC_TO_ONE,    /**< all of it to one */
    TRAFFIC_FROM_ONE,
    TRAFFIC_RANDOM, /**< 0 … most */
    TRAFFIC_SPARSE, /**< mostly nothing */
    TRAFFIC_COLUMN, /**< to the ranks of one column of the array */
    TRAFFIC_CATCH,  /**< so many that the last one for each destination goes
                         to the same bucket when they are distributed */
    TRAFFIC_PATTERNS
};

/** Bytes of an element that is a stage of its own, where stages are planned by
 *  counts. */
#define TRAFFIC_LONG ((size_t)4 << 20)

struct traffic {
    unsigned n;
    const char *name;
    uint64_t *counts; /**< from · n + to */
};

/** Up to @p most elements from one to another. */
struct traffic traffic_make(unsigned n, enum traffic_pattern pattern,
                            uint64_t most, unsigned seed);
void traffic_free(struct traffic *traffic);
dcoll_traffic_t traffic_bounds(const struct traffic *traffic, size_t element);

#endif

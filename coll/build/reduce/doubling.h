/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce by recursive doubling for k ports: in each step the k+1 partners
 * exchange their whole blocks, and all combine them in the same order. Ranks
 * beyond a power of k+1 give their block to the core of their cluster first,
 * and get the result from it at the end (clusters.h). It takes the fewest
 * steps, and moves the most bytes.
 */
#ifndef DCOLL_DOUBLING_H
#define DCOLL_DOUBLING_H

#include "coll/build/exchange/group.h"

struct doubling {
    struct group g; /**< of clusters_radix() */
    size_t temp;    /**< offset of its memory in TEMP */
};

/** The place where my block must be before doubling_run(). */
dcoll_place_t doubling_own(const struct doubling *d);
/** Reduces to @p result, in my own memory. */
void doubling_run(const struct doubling *d, dcoll_place_t result);
/** The bytes that it needs in TEMP. */
size_t doubling_bytes(const struct doubling *d);

#endif

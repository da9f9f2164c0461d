/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce by recursive doubling for k ports: in each step the k+1 partners
 * exchange what they have, whole blocks, and combine it in their order, all in
 * the same way. Ranks that are too many for a power of k+1 give theirs to the
 * core of their cluster first, and get the result from it (clusters.h). Takes
 * the fewest steps, and moves most.
 */
#ifndef DCOLL_DOUBLING_H
#define DCOLL_DOUBLING_H

#include "coll/build/exchange/group.h"

struct doubling {
    struct group g; /**< of clusters_radix() */
    size_t temp;    /**< where its memory in TEMP begins */
};

/** Where my block is to be, before doubling_run(). */
dcoll_place_t doubling_own(const struct doubling *d);
/** The result to that place, of my own. */
void doubling_run(const struct doubling *d, dcoll_place_t result);
/** Of TEMP. */
size_t doubling_bytes(const struct doubling *d);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of long blocks: each rank owns a slice, which all others put to it
 * in a direct exchange (seed 000, section 5.1.2, eq. 2), and combines it.
 */
#ifndef DCOLL_OWNERS_H
#define DCOLL_OWNERS_H

#include "coll/build/reduce/combine.h"
#include "coll/build/exchange/direct.h"

struct owners {
    struct direct exchange;
    struct slices slices;
    dcoll_place_t vector; /**< for the results of all, and what is put comes
                               from there, unless it is the user's */
    size_t temp;          /**< of what comes in, in TEMP */
};

/** The vector: RECV (zero copy), or TEMP from 0 on. */
struct owners owners_of(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, grant_t grant, dcoll_schedule_t *s);
/** Of TEMP. */
size_t owners_bytes(const struct owners *o);
/** The slice of a rank, in the vector. */
dcoll_place_t owners_slice(const struct owners *o, unsigned rank);
size_t owners_slice_bytes(const struct owners *o, unsigned rank);
/** A place in TEMP for mine: that where others put theirs to me. */
dcoll_place_t owners_mine(const struct owners *o);
/** Slices to their owners, and mine combined to @p result: its place in the
 *  vector, or owners_mine(). */
void owners_combine(const struct owners *o, dcoll_place_t result);
/** Before and after: those who put to me may (grant.h). */
void owners_open(const struct owners *o);
void owners_close(const struct owners *o);

#endif

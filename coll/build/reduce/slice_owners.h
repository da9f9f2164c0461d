/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of long blocks: each rank owns a slice. All other ranks put their
 * part of it to the owner in a direct exchange (Qian and Afsahi 2008,
 * section 5.1.2, equation 2), and the owner combines them.
 */
#ifndef DCOLL_OWNERS_H
#define DCOLL_OWNERS_H

#include "coll/build/reduce/combine.h"
#include "coll/build/exchange/direct.h"

struct owners {
    struct direct exchange;
    struct slices slices;
    dcoll_place_t vector; /**< the place of the result; puts read from here,
                             unless they read from the user's buffer */
    size_t temp;          /**< offset in TEMP of the parts that are received */
};

/** The vector is RECV (zero copy), or TEMP from 0 on. */
struct owners owners_of(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, grant_t grant, dcoll_schedule_t *s);
/** The bytes that it needs in TEMP. */
size_t owners_bytes(const struct owners *o);
/** The place of a rank's slice in the vector, and its bytes. */
dcoll_place_t owners_slice(const struct owners *o, unsigned rank);
size_t owners_slice_bytes(const struct owners *o, unsigned rank);
/** The place in TEMP of my own operand, in the row of the received ones. */
dcoll_place_t owners_mine(const struct owners *o);
/** Exchanges slices, and combines mine into @p result: its place in the vector,
 * or owners_mine(). */
void owners_combine(const struct owners *o, dcoll_place_t result);
/** Before and after: grants puts to me (grant.h). */
void owners_open(const struct owners *o);
void owners_close(const struct owners *o);

#endif

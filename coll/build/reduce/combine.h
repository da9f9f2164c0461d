/* SPDX-License-Identifier: BSD-3-Clause */
/* What reductions have in common: slices of a block, and combining what several
 * ranks gave. */
#ifndef DCOLL_COMBINE_H
#define DCOLL_COMBINE_H

#include "coll/schedule.h"

/** A block in slices that follow each other: whole elements, and cache lines,
 *  so that elements are aligned as in the block; but of elements that are no
 *  power of two, only where it has enough. Some may be empty. */
struct slices {
    size_t bytes, unit; /**< of the block; of what is not divided */
    unsigned count;
};

struct slices slices_of(const dcoll_args_t *args, unsigned count);
/** Of what is not divided, there are so many. */
size_t slices_units(const struct slices *s);
/** Where a slice begins; of slice `count`: the bytes of the block. */
size_t slices_begin(const struct slices *s, unsigned slice);
/** The room for any of them. */
size_t slices_most(const struct slices *s);
/** Where that unit begins; of the last one + 1: the bytes of the block. */
size_t slices_at(const struct slices *s, size_t unit);

/** From one block, or operand, in memory to the next. */
size_t combine_stride(size_t bytes);

/** What ranks that follow each other gave, in a row but for mine. */
struct operands {
    unsigned count, own; /**< which one is mine */
    dcoll_place_t row;   /**< of operand 0; … */
    size_t stride;       /**< … from one to the next */
    dcoll_place_t mine;
    dcoll_place_t spare; /**< for what is combined until mine has been read: the
                              result's place, or, where that may be mine's (a
                              root in place), another, as my place in the row */
    bool sole;           /**< the row is in NODE, and nobody else reads it */
};

/** All of them to @p dst; of one, a copy, unless it is there. */
void combine_in_order(dcoll_schedule_t *s, const dcoll_args_t *args,
                      const struct operands *o, dcoll_place_t dst,
                      size_t bytes);

/** The place @p bytes behind that one. */
static inline dcoll_place_t combine_at(dcoll_place_t place, size_t bytes)
{
    return dcoll_at(place.space, place.offset + bytes);
}

/** A reduction: where my own block is. */
dcoll_place_t combine_user(const dcoll_args_t *args);

#endif

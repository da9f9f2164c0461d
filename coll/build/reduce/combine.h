/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of all reductions: slices of a block, and combining operands in the
 * order of ranks. */
#ifndef DCOLL_COMBINE_H
#define DCOLL_COMBINE_H

#include "coll/schedule.h"

/** A block divided into consecutive slices of whole elements. If elements are a
 *  power of two, also of whole cache lines, so that elements stay aligned; if
 * not, only if there are enough elements. Some slices may be empty. */
struct slices {
    size_t bytes, unit; /**< of the block; of a unit, which is not divided */
    unsigned count;
};

struct slices slices_of(const dcoll_args_t *args, unsigned count);
/** A vector of @p count blocks, each a slice. */
struct slices slices_of_blocks(const dcoll_args_t *args, unsigned count);
/** The number of units in the block. */
size_t slices_units(const struct slices *s);
/** The offset of a slice; of slice `count`: the bytes of the block. */
size_t slices_begin(const struct slices *s, unsigned slice);
/** The bytes of the longest slice. */
size_t slices_most(const struct slices *s);
/** The offset of a unit; of the last one + 1: the bytes of the block. */
size_t slices_at(const struct slices *s, size_t unit);

/** The distance between operands of @p bytes in memory. */
size_t combine_stride(size_t bytes);

/** The operands of consecutive ranks: in a row, except mine. */
struct operands {
    unsigned count, own; /**< own: the index of mine */
    dcoll_place_t row;   /**< of operand 0 */
    size_t stride;       /**< from one operand to the next */
    dcoll_place_t mine;
    dcoll_place_t spare; /**< for intermediate results until mine has been read:
                            the result's place; if that may be mine's (a root in
                            place), another one, such as my place in the row */
};

/** Combines all operands into @p dst. A single operand is copied, unless it is
 *  there. */
void combine_in_order(dcoll_schedule_t *s, const dcoll_args_t *args,
                      const struct operands *o, dcoll_place_t dst,
                      size_t bytes);

/** Combines the operands of this rank's block of SEND, which are in @p row but
 *  for my own one, into RECV. In place, RECV is the begin of SEND. */
void combine_own_block(dcoll_schedule_t *s, const dcoll_args_t *args,
                       unsigned count, unsigned rank, dcoll_place_t row);

/** The place @p bytes behind @p place. */
static inline dcoll_place_t combine_at(dcoll_place_t place, size_t bytes)
{
    return dcoll_at(place.space, place.offset + bytes);
}

/** The place of my own block. */
dcoll_place_t combine_user(const dcoll_args_t *args);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter by the steps of Bruck's all-gather in the opposite order
 * (Träff 2025, doi 10.34726/10760; for several ports Jocksch et al. 2021). In
 * the all-gather, the slice of a rank travels along a tree to all ranks; here
 * the operands of that slice travel back, and are combined where they meet:
 * ⌈log_{k+1} n⌉ steps and (n-1)/k slices for any n. The operands of a slice do
 * not meet in the order of ranks, so the operation must commute.
 */
#ifndef DCOLL_CYCLIC_REDUCE_H
#define DCOLL_CYCLIC_REDUCE_H

#include "coll/build/exchange/cyclic.h"

struct cyclic_reduce {
    struct cyclic ring;   /**< vector: where slices are combined; may be user */
    dcoll_place_t user;   /**< my operands: a vector, not rotated; or `vector`
                               itself */
    bool direct;          /**< puts may read from `user`; else it is copied */
    size_t temp;          /**< offset of its memory in TEMP */
    grant_t grant;        /**< of puts into that memory */
    dcoll_place_t result; /**< of my slice: in the vector, or outside it */
};

/** Combines my slice. A result outside the vector is written after COMPLETE, as
 * it may lie in `user`. */
void cyclic_reduce(const struct cyclic_reduce *r);
/** The bytes that it needs in TEMP. */
size_t cyclic_reduce_bytes(const struct cyclic_reduce *r);
/** After it: grants the next puts to me. */
void cyclic_reduce_close(const struct cyclic_reduce *r);
/** dcoll_algorithm_t.refuses: it does not keep the order of ranks. */
const char *cyclic_reduce_refuses(const dcoll_shape_t *shape,
                                  const dcoll_args_t *args);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A vector with a slice for each rank. Ranks are numbered from a first one, in
 * a circle, and a message has consecutive slices. In the order of numbers, a
 * message that wraps around the last number takes two puts. If each rank's
 * vector begins with its own slice (rotated), one put is enough.
 */
#ifndef DCOLL_CYCLIC_H
#define DCOLL_CYCLIC_H

#include "coll/build/exchange/tree.h"
#include "coll/build/grant.h"
#include "coll/build/reduce/combine.h"

struct cyclic {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned ports;
    unsigned first, me;   /**< the rank of number 0; my number */
    unsigned apart;       /**< number i is rank first + i * apart; 0: rank
                               (first + i) % count */
    struct slices slices; /**< count: the number of ranks */
    bool rotated;
    dcoll_place_t vector, there; /**< its place here, and on other ranks */
    grant_t grant;               /**< of puts into the vector */
    const struct tree *tree;     /**< cyclic_scatter() has given each number the
                                      slices of its subtree; NULL: it has its own */
};

/** A part of a message: its bytes, where they are in a vector that is not
 *  rotated, and how many bytes of the message come before it. */
struct cyclic_part {
    size_t begin, before, bytes;
};

/** The one or two parts of @p count slices from @p number on, for vectors that
 *  are not rotated. Returns their number. */
unsigned cyclic_parts(const struct cyclic *c, unsigned number, unsigned count,
                      struct cyclic_part parts[2]);
/** The same, but one part if the vector is rotated. */
unsigned cyclic_message(const struct cyclic *c, unsigned number, unsigned count,
                        struct cyclic_part parts[2]);
/** The place of a part in @p vector of number @p owner; the message begins with
 *  slice @p number. */
dcoll_place_t cyclic_place(const struct cyclic *c, dcoll_place_t vector,
                           unsigned owner, unsigned number,
                           const struct cyclic_part *part);
/** The rank of a number; numbers beyond the last one go on with 0. */
unsigned cyclic_rank(const struct cyclic *c, unsigned number);

/** Scatters the slices of number 0 along the tree; not rotated. */
void cyclic_scatter(const struct cyclic *c);
/** Bruck's all-gather (bruck.h) of the slices, in ⌈log_{k+1} n⌉ steps. No
 *  rank receives slices that it has. */
void cyclic_allgather(const struct cyclic *c);
/** Before and after these two: grants puts to me. */
void cyclic_open(const struct cyclic *c);
void cyclic_close(const struct cyclic *c);

#endif

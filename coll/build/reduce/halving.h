/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by recursive halving, an all-reduce with doubling behind it, for k
 * ports (Rabenseifner, ICCS 2004, for powers of 2 and k = 1). The number of
 * ranks is a product of factors; each factor is a stage. In a stage of factor
 * f, the f partners divide the part that they all have, and each combines one
 * of the f parts, in ⌈(f-1)/k⌉ steps. Then, stage by stage in the opposite
 * order, they send each other the results. So any number of ranks moves the
 * fewest bytes; a prime number does so by a single direct exchange. Groups of
 * partners are consecutive, so the order of ranks is kept.
 *
 * A rank that has the final result knows that all ranks have read what was put
 * into TEMP for it; and the second half puts only to ranks that have begun the
 * start. So puts need no grant, except READY for puts into RECV. Without the
 * second half, puts of the first half need a grant.
 */
#ifndef DCOLL_HALVING_H
#define DCOLL_HALVING_H

#include "coll/build/reduce/combine.h"
#include "coll/build/exchange/group.h"
#include "coll/build/exchange/radix.h"

struct halving {
    struct group g;
    struct radix stages;
    size_t temp;          /**< offset of its memory in TEMP */
    dcoll_place_t vector; /**< place of the result, the same on all ranks */
    dcoll_place_t user;   /**< place of my block; may be the vector */
    bool direct; /**< puts may read from `user`; else the block is copied to the
                      vector first */
    bool once;   /**< there is no second half */
};

/** A part of the block. */
struct halved {
    size_t begin, bytes;
};

/** Grants puts to me: into the vector or, once, into TEMP. */
void halving_open(const struct halving *h);
/** The same at the end, when everything has been read. */
void halving_close(const struct halving *h);
/** Reduces to `vector`; once: only my part of it. */
void halving_run(const struct halving *h);
/** The part that a member has after the first half; may be empty. */
struct halved halving_part(const struct halving *h, unsigned number);
/** The bytes that it needs in TEMP. */
size_t halving_bytes(const struct halving *h);

#endif

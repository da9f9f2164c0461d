/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by recursive halving, an all-reduce with doubling behind it, for k
 * ports (Rabenseifner's, ICCS 2004, for powers of 2 and k = 1): the number of
 * ranks is a product of factors, for each of which there is a stage. In a stage
 * of factor f, the f partners divide the part that they all have, and each
 * combines one of the parts, in ⌈(f-1)/k⌉ steps; then, stage by stage in the
 * opposite order, they give each other the results. So any number of ranks
 * moves the fewest bytes, a prime one by a single direct exchange. As partners'
 * groups are neighbours, the order of ranks is kept.
 *
 * Who has the result of all knows that all have read what was put to TEMP for
 * it, and the second half puts to those only who have begun the start: but for
 * READY of puts to RECV, no grant is needed. Without the second half, those of
 * the first one take it.
 */
#ifndef DCOLL_HALVING_H
#define DCOLL_HALVING_H

#include "coll/build/reduce/combine.h"
#include "coll/build/exchange/group.h"
#include "coll/build/exchange/radix.h"

struct halving {
    struct group g;
    struct radix stages;
    size_t temp;          /**< where its memory in TEMP begins */
    dcoll_place_t vector; /**< where the result is to be, the same on all, … */
    dcoll_place_t user;   /**< … and my block is; may be the same … */
    bool direct; /**< what is put may be there; else it is copied to the vector
                      before */
    bool once;   /**< there is no second half */
};

/** A part of the block. */
struct halved {
    size_t begin, bytes;
};

/** Those that put to me may: to the vector, or, once, to TEMP; … */
void halving_open(const struct halving *h);
/** … when all has been read. */
void halving_close(const struct halving *h);
/** The result to `vector`, which others put to; once: my part of it. */
void halving_run(const struct halving *h);
/** What that member of the group has after the first half; maybe nothing. */
struct halved halving_part(const struct halving *h, unsigned number);
/** Of TEMP. */
size_t halving_bytes(const struct halving *h);

#endif

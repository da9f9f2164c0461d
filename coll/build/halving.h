/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce by recursive halving, then doubling, for k ports (Rabenseifner's,
 * ICCS 2004, for powers of 2 and k = 1): the number of ranks is a product of
 * factors, for each of which there is a stage. In a stage of factor f, the f
 * partners divide the part that they all have, and each combines one of the
 * parts, in ⌈(f-1)/k⌉ steps; then, stage by stage in the opposite order, they
 * give each other the results. So any number of ranks moves the fewest bytes, a
 * prime one by a single direct exchange. As partners' groups are neighbours,
 * the order of ranks is kept.
 *
 * Who has the result knows that all have read what was put to TEMP for it, and
 * the second half puts to those only who have begun the start: but for READY of
 * puts to RECV, no grant is needed.
 */
#ifndef DCOLL_HALVING_H
#define DCOLL_HALVING_H

#include "combine.h"
#include "group.h"
#include "radix.h"

struct halving {
    struct group g;
    struct radix stages;
    size_t temp;          /**< where its memory in TEMP begins */
    dcoll_place_t vector; /**< where the result is to be, the same on all, … */
    dcoll_place_t user;   /**< … and my block is; may be the same … */
    bool direct; /**< what is put may be there; else it is copied to the vector
                      before */
};

/** Those that put to me, to the vector, may. */
void halving_open(const struct halving *h);
/** The result to `vector`, which others put to. */
void halving_run(const struct halving *h);
/** Of TEMP. */
size_t halving_bytes(const struct halving *h);

#endif

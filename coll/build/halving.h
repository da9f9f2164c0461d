/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce by recursive halving, then doubling, for k ports (Rabenseifner's,
 * ICCS 2004, which is the case k = 1): in each step the k+1 partners divide the
 * part that they all have, and each combines one of the parts; then they give
 * each other the results, in the steps' opposite order. As groups of partners
 * are neighbours, the order of ranks is kept. Ranks that are too many for a
 * power of k+1 as in doubling.h.
 *
 * Who has the result knows that all have read what was put to TEMP for it, and
 * the second half puts to those only who have begun the start: but for READY of
 * puts to RECV, no grant is needed.
 */
#ifndef DCOLL_HALVING_H
#define DCOLL_HALVING_H

#include "combine.h"
#include "group.h"

struct halving {
    struct group g;
    size_t temp;          /**< where its memory in TEMP begins */
    dcoll_place_t vector; /**< where the result is to be, the same on all, … */
    dcoll_place_t user;   /**< … and my block is; may be the same … */
    bool direct; /**< what is put may be there; else it is copied to the vector
                      before */
};

/** The result to `vector`, which others put to. */
void halving_run(const struct halving *h);
/** Of TEMP. */
size_t halving_bytes(const struct halving *h);

#endif

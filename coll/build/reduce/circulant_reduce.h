/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce of a long block in n pieces on a circulant graph: the broadcast of
 * exchange/circulant_bcast.h with all rounds and messages reversed (Träff 2025,
 * arXiv 2407.18004), n - 1 + ⌈log₂ N⌉ steps for N members. In the broadcast
 * each piece travels along a tree to all members; here the operands of that
 * piece travel back, and are combined where they meet. They do not meet in the
 * order of ranks, so the operation must commute. Each piece is striped over the
 * ports.
 */
#ifndef DCOLL_CIRCULANT_REDUCE_H
#define DCOLL_CIRCULANT_REDUCE_H

#include "coll/build/exchange/circulant_bcast.h"

struct circulant_reduce {
    /* the broadcast, after circulant_bcast_plan(); its places are not used */
    struct circulant_bcast reversed;
    dcoll_place_t user; /**< my operand */
    bool direct;        /**< puts may read from `user`; else it is copied */
};

/** Adds all rounds. Member 0 gets the result in RECV. Takes all TEMP. */
void circulant_reduce(const struct circulant_reduce *r);

#endif

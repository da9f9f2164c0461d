/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A block divided among ranks by their ports, for an all-reduce over a switch
 * that blocks nothing: a star for each rank, over which the others send it
 * their operands of its share, and get the result.
 *
 * A rank with share s (of the block) and b ports sends, and receives, 1 - s to
 * or from the other owners, and s to or from each of the N - 1 others: 1 +
 * (N - 2) s. The cut bound (ForestColl: Zhao et al. 2024, arXiv 2402.06787)
 * allows T = max(1 / least b, 2 (N - 1) / all b). So s = (T b - 1) / (N - 2)
 * keeps each rank within T; the sum of these is 1, or more if the first term of
 * T counts, and then they shrink.
 */
#ifndef DCOLL_SHARES_H
#define DCOLL_SHARES_H

#include "coll/build/reduce/combine.h"

struct shares {
    struct slices units; /**< which are not divided */
    const dcoll_args_t *args;
    uint64_t a, b;   /**< the weight of r ranks with p ports is a p - b r */
    uint64_t weight; /**< of all ranks, > 0 */
    unsigned nranks, pieces;
};

/** @p pieces: of each share, the same number for all; some may be empty. */
struct shares shares_of(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned pieces);
/** The offset in the block of a piece of a rank's share; of piece `pieces`: the
 *  end of the share. */
size_t shares_begin(const struct shares *s, unsigned rank, unsigned piece);
size_t shares_bytes(const struct shares *s, unsigned rank, unsigned piece);
/** The fewest ports of a rank. */
unsigned shares_least_ports(const dcoll_shape_t *shape,
                            const dcoll_args_t *args);

#endif

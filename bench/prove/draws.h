/* SPDX-License-Identifier: BSD-3-Clause */
/* Variants of a schedule that are drawn. */
#ifndef BENCH_VERIFY_DRAWS_H
#define BENCH_VERIFY_DRAWS_H

#include "prove.h"

/** Verifies @p count variants of the row's algorithm with the ranks and nodes
 *  of @p shape: ports, bytes, root, in place, zero copy, groups, depth and
 *  elements are drawn from @p random, which goes on; of
 *  irregular ones ports, counts and bounds. A wrong one makes the row
 * wrong, and its reason says which it is. Refused ones count, too.
 *  @return 0, or DRAIL_ENOMEM. */
int verify_draws(verify_row_t *row, const dcoll_shape_t *shape, unsigned count,
                 uint64_t *random);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan for k ports in ⌈log_{k+1} n⌉ steps, the fewest that there can
 * be. A rank has the combined operands of the w ranks before it (exclusive) or
 * of the w ranks up to itself (inclusive). In a step it sends what it has to
 * the ranks that lack it, at k multiples of a distance, and puts in front what
 * it receives: w grows to (k+1) w.
 *
 * An exclusive scan begins with nothing. In its first two steps, a rank sends
 * what it has combined with its own operand: w grows to (k+1) w + k, but that
 * costs one more COMBINE. For k = 1 that is 123-doubling (Träff 2025, arXiv
 * 2507.04785), with distances 1, 2, 3, 6, 12 … If the fewest steps would not
 * reach all ranks in that way, further steps do the same.
 */
#ifndef DCOLL_PREFIX_H
#define DCOLL_PREFIX_H

#include "coll/schedule.h"

/** The schedule of a scan or exscan. */
void prefix_generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s);

#endif

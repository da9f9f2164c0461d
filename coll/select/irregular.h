/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_SELECT_IRREGULAR_H
#define DCOLL_SELECT_IRREGULAR_H

#include "coll/schedule.h"

/* The algorithm of `auto` for an irregular all-to-all; the same on all ranks.
 * It looks at the largest row or column of the traffic matrix (max_rank) and at
 * its largest entry (max_pair), as ranks wait for these, not for the total.
 * spread: ranks are on several hosts. expected: they have agreed on the counts.
 * NULL: bounds are needed to choose. */
const dcoll_algorithm_t *irregular_select(const dcoll_shape_t *shape,
                                          const dcoll_args_t *args, bool spread,
                                          bool expected);

#endif

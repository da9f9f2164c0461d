/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_SELECT_IRREGULAR_H
#define DCOLL_SELECT_IRREGULAR_H

#include "coll/schedule.h"

/* The choice of auto for an all-to-all with counts; the same on all ranks. Of
 * the traffic matrix it looks at the largest row or column, max_rank, and, for
 * how skewed it is, at the largest entry, max_pair: those are what ranks wait
 * for, whatever the total is. spread: ranks are on several hosts. expected:
 * they have agreed on the traffic. NULL: it depends on the traffic, whose
 * bounds are not known. */
const dcoll_algorithm_t *irregular_select(const dcoll_shape_t *shape,
                                          const dcoll_args_t *args, bool spread,
                                          bool expected);

#endif

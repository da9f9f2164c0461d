/* SPDX-License-Identifier: BSD-3-Clause */
/* Multi-connection all-gather by groups (Qian et al. 2008, sections 5.1
 * and 5.3). */
#ifndef DCOLL_MULTI_H
#define DCOLL_MULTI_H

#include <stdbool.h>

#include "coll/schedule.h"

/* The most groups: each has a master on each node, so as many as the smallest
 * node has ranks. */
unsigned multi_most_groups(const dcoll_shape_t *shape);

/* ring: each master uses one connection, in steps; else it sends to all other
 * masters at once. */
void multi_allgather(unsigned groups, bool ring, const dcoll_shape_t *shape,
                     const dcoll_args_t *args, unsigned rank,
                     dcoll_schedule_t *s);

#endif

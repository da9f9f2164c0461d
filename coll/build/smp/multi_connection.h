/* SPDX-License-Identifier: BSD-3-Clause */
/* Multi-connection all-gather by groups (seed 002, sections 5.1 and 5.3). */
#ifndef DCOLL_MULTI_H
#define DCOLL_MULTI_H

#include <stdbool.h>

#include "coll/schedule.h"

/* Ranks of the smallest node: more groups than that are not made, for each has
 * a master on each node. */
unsigned multi_most_groups(const dcoll_shape_t *shape);

/* ring: one connection per master, in steps; else all others at once. */
void multi_allgather(unsigned groups, bool ring, const dcoll_shape_t *shape,
                     const dcoll_args_t *args, unsigned rank,
                     dcoll_schedule_t *s);

#endif

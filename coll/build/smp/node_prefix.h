/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan within a node: each rank posts its block, and combines those
 * of the ranks before it in order. A rank waits before it posts until the later
 * ranks have read its block of `depth` starts ago, of which they tell once in
 * half of the depth: earlier ranks may run ahead of later ones.
 */
#ifndef DCOLL_NODE_PREFIX_H
#define DCOLL_NODE_PREFIX_H

#include "coll/schedule.h"

/** The schedule of a scan or exscan. */
void node_prefix_generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                          unsigned rank, dcoll_schedule_t *s);

#endif

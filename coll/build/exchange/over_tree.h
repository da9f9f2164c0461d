/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather, broadcast and scatter over any tree. */
#ifndef DCOLL_OVER_TREE_H
#define DCOLL_OVER_TREE_H

#include "coll/schedule.h"
#include "coll/build/exchange/tree.h"

void gather_over_tree(const struct tree *tree, const dcoll_args_t *args,
                      unsigned rank, dcoll_schedule_t *s);
void bcast_over_tree(const struct tree *tree, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s);
void scatter_over_tree(const struct tree *tree, const dcoll_args_t *args,
                       unsigned rank, dcoll_schedule_t *s);

#endif

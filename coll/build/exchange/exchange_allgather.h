/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard exchange all-gather: recursive doubling for k ports.
 */
#ifndef DCOLL_FOLD_H
#define DCOLL_FOLD_H

#include "coll/schedule.h"

void fold_allgather(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, unsigned ports, dcoll_schedule_t *s);

#endif

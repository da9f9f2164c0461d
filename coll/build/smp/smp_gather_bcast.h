/* SPDX-License-Identifier: BSD-3-Clause */
/* All-gather as SMP-aware gather and broadcast. star: the gather uses a star,
 * else a tree. */
#ifndef DCOLL_SMP_GATHER_BCAST_H
#define DCOLL_SMP_GATHER_BCAST_H

#include <stdbool.h>

#include "coll/schedule.h"

void smp_gather_bcast(bool star, const dcoll_shape_t *shape,
                      const dcoll_args_t *args, unsigned rank,
                      dcoll_schedule_t *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* SMP-aware gather and broadcast, for any tree of the gather. */
#ifndef DCOLL_SMP_GATHER_BCAST_H
#define DCOLL_SMP_GATHER_BCAST_H

#include <stdbool.h>

#include "coll/schedule.h"

void smp_gather_bcast(bool star, const dcoll_shape_t *shape,
                      const dcoll_args_t *args, unsigned rank,
                      dcoll_schedule_t *s);

#endif

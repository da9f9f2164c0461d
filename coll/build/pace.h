/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps one after the other (dcoll_args_t.paced). */
#ifndef DCOLL_PACE_H
#define DCOLL_PACE_H

#include "coll/schedule.h"

/** Before a put or get of the present step: until those of steps before are
 *  complete. Not paced: nothing. */
void pace(dcoll_schedule_t *s, const dcoll_args_t *args);
/** Of messages @p first … count - 1, k a step: end of those that are posted
 *  before any is waited for. Not paced: all. */
unsigned pace_end(const dcoll_args_t *args, unsigned k, unsigned first,
                  unsigned count);

#endif

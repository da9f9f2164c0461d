/* SPDX-License-Identifier: BSD-3-Clause */
/* Pacing: one step after the other (dcoll_args_t.paced). */
#ifndef DCOLL_PACE_H
#define DCOLL_PACE_H

#include "coll/schedule.h"

/** Before a put or get: waits until those of earlier steps are complete. Adds
 *  nothing if it is not paced. */
void pace(dcoll_schedule_t *s, const dcoll_args_t *args);
/** Messages @p first … count - 1 are posted k in a step: the end of those that
 * are posted before any is waited for. Not paced: count. */
unsigned pace_end(const dcoll_args_t *args, unsigned k, unsigned first,
                  unsigned count);

#endif

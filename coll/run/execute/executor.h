/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes schedules: schedule.h has the rules. */
#ifndef DCOLL_EXECUTOR_H
#define DCOLL_EXECUTOR_H

#include "coll/run/request.h"

/* Begins the next start of a request that is not under way. */
int request_start(dcoll_request_t *q);
/* Performs operations until one has to wait. 0: the start is complete;
 * DRAIL_EAGAIN; or an error. */
int request_advance(dcoll_request_t *q);

#endif

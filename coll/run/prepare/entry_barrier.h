/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barrier before ranks prepare a request together. Preparing exchanges data
 * over the job, and meanwhile a rank takes no notifications. So a rank waits
 * here, and takes notifications, until all ranks have come: then none of them
 * needs credit any more.
 */
#ifndef DCOLL_ENTRY_BARRIER_H
#define DCOLL_ENTRY_BARRIER_H

#include "coll/run/request.h"

/* Connects the ranks that notify each other in the barrier. All ranks call it
 * when the team is created. */
int entry_barrier_connect(dcoll_team_t *team);
/* Waits until all ranks are here. An error names the rank that made another
 * call, gave up, died, or did not come in time. */
int entry_barrier(dcoll_request_t *q);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_WAIT_H
#define DCOLL_WAIT_H

#include "coll/run/request.h"

/* Performs what can be performed now, with progress of the team's others: 0
 * complete, DRAIL_EAGAIN, or an error. */
int request_poll(dcoll_request_t *q);
/* Performs what can be performed now of all that are under way. */
int team_advance_requests(dcoll_team_t *team);
/* Until it is complete; timeout_ms as for the transport. */
int request_finish(dcoll_request_t *q, int timeout_ms);

#endif

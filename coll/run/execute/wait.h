/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for requests: how long to poll, when to yield the core, when to
 * sleep, when to check the peers, when to give up. */
#ifndef DCOLL_WAIT_H
#define DCOLL_WAIT_H

#include "coll/run/request.h"

/* dcoll_test: advances this request, the team's other requests, and the rails.
 * 0: it is complete; DRAIL_EAGAIN; or an error. */
int request_poll(dcoll_request_t *q);
/* Advances all requests that have been started, once. 0, or an error. */
int team_advance_requests(dcoll_team_t *team);
/* Waits until the request is complete; timeout_ms as for the transport. */
int request_finish(dcoll_request_t *q, int timeout_ms);

#endif

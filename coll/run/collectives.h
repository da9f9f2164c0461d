/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of all kinds, once the algorithm is chosen: get a request, bind the
 * buffers, start it. Regular calls (collectives.c) and irregular ones
 * (irregular/calls.c) share these functions. 0, or an error of the team, unless
 * said otherwise.
 */
#ifndef DCOLL_COLLECTIVES_H
#define DCOLL_COLLECTIVES_H

#include "coll/run/request.h"

/* For a blocking call: a cached request, or a new one. The caller binds the
 * buffers, then runs it. */
int request_get_blocking(dcoll_team_t *team, const dcoll_args_t *args,
                         const dcoll_algorithm_t *algorithm,
                         dcoll_request_t **out);
/* Starts the request and waits until it is complete. Returns 0, the error of
 * this call alone, or an error that has broken the team. */
int request_run(dcoll_request_t *q);
/* For a non-blocking call: the least recently used of ROTATION equal requests,
 * or a new one. Completes the start that is still under way on it. */
int request_get_nonblocking(dcoll_team_t *team, const dcoll_args_t *args,
                            const dcoll_algorithm_t *algorithm,
                            dcoll_request_t **out);
/* Starts the request, and gives the caller a handle of it. */
int request_launch(dcoll_request_t *q, dcoll_request_t **out);

#endif

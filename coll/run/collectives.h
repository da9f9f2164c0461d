/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls, whatever they are of: a request for them, and its start. */
#ifndef DCOLL_COLLECTIVES_H
#define DCOLL_COLLECTIVES_H

#include "coll/run/request.h"

/* Blocking: one that is kept, or a new one. It is to be bound then. */
int request_for_run(dcoll_team_t *team, const dcoll_args_t *args,
                    const dcoll_algorithm_t *algorithm, dcoll_request_t **out);
/* Starts it and waits for its end: 0, what the user has to be told, or an error
 * that has broken the team. */
int request_run(dcoll_request_t *q);
/* The same for non-blocking calls. */
int request_for_begin(dcoll_team_t *team, const dcoll_args_t *args,
                      const dcoll_algorithm_t *algorithm,
                      dcoll_request_t **out);
int request_launch(dcoll_request_t *q, dcoll_request_t **out);
/* What dcoll_prepare and dcoll_would_wait answer. */
int request_prepare_turns(dcoll_team_t *team, const dcoll_args_t *args,
                          const dcoll_algorithm_t *algorithm);
int request_would_wait(dcoll_team_t *team, const dcoll_args_t *args,
                       const dcoll_algorithm_t *algorithm);

#endif

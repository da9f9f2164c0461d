/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_CREATE_H
#define DCOLL_CREATE_H

#include "coll/run/request.h"

/* Creates a request of the call's shape, without buffers; collective. */
int request_create(dcoll_team_t *team, const dcoll_args_t *args,
                   const dcoll_algorithm_t *algorithm, enum owner owner,
                   dcoll_request_t **out);
/* An error: a peer is inside the user's buffers. */
int request_destroy(dcoll_request_t *q);

#endif

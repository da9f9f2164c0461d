/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creates and destroys requests. Creating one takes four steps: all ranks meet
 * at the entry barrier; each prepares its part locally; they exchange what the
 * others need; they connect.
 */
#ifndef DCOLL_CREATE_H
#define DCOLL_CREATE_H

#include "coll/run/request.h"

/* All ranks call it. The request has no buffers yet. 0, or an error of the
 * team. */
int request_create(dcoll_team_t *team, const dcoll_args_t *args,
                   const dcoll_algorithm_t *algorithm, enum owner owner,
                   dcoll_request_t **out);
/* Local. An error: a peer still accesses the user's buffers. */
int request_destroy(dcoll_request_t *q);

#endif

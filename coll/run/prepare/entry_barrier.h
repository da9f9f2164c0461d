/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_MEET_H
#define DCOLL_MEET_H

#include "coll/run/request.h"

/* For the meetings of a team: all ranks call it at the same time. */
int entry_barrier_connect(dcoll_team_t *team);
/* Before this rank prepares a request with the others: until all have come. An
 * error, which names the rank, if one differs, gives up, or does not come. */
int entry_barrier(dcoll_request_t *q);

#endif

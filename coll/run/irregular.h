/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with counts. */
#ifndef DCOLL_IRREGULAR_H
#define DCOLL_IRREGULAR_H

#include "coll/run/elements.h"
#include "coll/run/team.h"

/* What one rank's call asks for. */
struct demand {
    uint64_t sent, received; /* elements */
    uint64_t pair;           /* the most for, or from, one rank */
};

/* Is the call right, whatever others do? Counts what it asks for, and by
 * destination in row, if that is not NULL. 0, or an error of the team. */
int elements_check(dcoll_team_t *team, const struct elements *e, bool labelled,
                   struct demand *demand, uint64_t *row);

/* Before another start: are the counts right, and within the request's bounds?
 * 0, or an error of this call. */
int irregular_renew(dcoll_request_t *q);
/* At a start: what READY is to tell. */
void irregular_start(dcoll_request_t *q);

#endif

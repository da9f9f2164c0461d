/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of an irregular collective, and their bounds. */
#ifndef DCOLL_BOUNDS_H
#define DCOLL_BOUNDS_H

#include "coll/run/irregular/elements.h"
#include "coll/run/request.h"

/* What one rank's call asks for. */
struct demand {
    uint64_t sent, received; /* elements */
    uint64_t pair;           /* the most for, or from, one rank, … */
    unsigned pair_to;        /* … not labelled: which one */
};

/* Is what the call says right, but for its counts? 0, or an error of the team.
 */
int elements_check_form(dcoll_team_t *team, const struct elements *e,
                        bool labelled);

/* Is all of it right, whatever others do? Counts what it asks for, and by
 * destination in row, if that is not NULL. 0, or an error of the team. */
int elements_check(dcoll_team_t *team, const struct elements *e, bool labelled,
                   struct demand *demand, uint64_t *row);

/* Can there be memory for so much? */
int bounds_possible(dcoll_team_t *team, const dcoll_traffic_t *t);
/* Is the call right, and within these bounds? */
int bounds_check(dcoll_team_t *team, const struct elements *e,
                 const dcoll_traffic_t *t);
/* Before another start: are the counts right, and within the request's bounds?
 * 0, or an error of this call. */
int bounds_renew(dcoll_request_t *q);

#endif

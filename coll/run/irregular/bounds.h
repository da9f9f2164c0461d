/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks an irregular call: its form, its counts, and whether they are within
 * the bounds. All functions return 0 or an error of the team. */
#ifndef DCOLL_BOUNDS_H
#define DCOLL_BOUNDS_H

#include "coll/run/irregular/elements.h"
#include "coll/run/request.h"

/* What the call of one rank asks for, in elements. */
struct demand {
    uint64_t sent, received;
    uint64_t pair;    /* the most for, or from, one rank, … */
    unsigned pair_to; /* … and, unlabelled, which rank that is */
};

/* Checks everything but the counts. */
int elements_check_form(dcoll_team_t *team, const struct elements *e,
                        bool labelled);

/* Checks everything that needs no other rank. Fills demand and, if row is not
 * NULL, the number of elements for each rank. */
int elements_check(dcoll_team_t *team, const struct elements *e, bool labelled,
                   struct demand *demand, uint64_t *row);

/* Could there be memory for traffic of these bounds? */
int bounds_possible(dcoll_team_t *team, const dcoll_traffic_t *t);
/* Checks the call, and its counts against the bounds. */
int bounds_check(dcoll_team_t *team, const struct elements *e,
                 const dcoll_traffic_t *t);
/* Before the next start of a persistent request: checks the counts against the
 * request's bounds, and binds the buffers anew. */
int bounds_renew(dcoll_request_t *q);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_MEMBERS_H
#define DCOLL_MEMBERS_H

#include "coll/run/team/cores.h"
#include "coll/run/team/team.h"

/* Where team_exchange all-gathers besides the team's own, that it can't fail
 * before the others have heard of it. */
struct team_gather {
    drail_gathered_t *cores, *readable;
};

/* Also what the team keeps. 0 or DRAIL_ENOMEM; in both cases the room is to be
 * freed. */
int team_gather_new(dcoll_team_t *team, struct team_gather *room);
void team_gather_free(struct team_gather *room);

/* Collective: cards, ledgers and cores of all ranks, by which the team's tables
 * and limits become equal, and all have attached to the node's ledgers. */
int team_exchange(dcoll_team_t *team, const struct team_gather *room);

#endif

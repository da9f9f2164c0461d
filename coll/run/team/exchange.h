/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_MEMBERS_H
#define DCOLL_MEMBERS_H

#include "coll/run/team/cores.h"
#include "coll/run/team/team.h"

/* Where members_exchange all-gathers besides the team's own, that it can't fail
 * before the others have heard of it. */
struct members_room {
    drail_gathered_t *cores, *readable;
};

/* Also what the team keeps. 0 or DRAIL_ENOMEM; in both cases the room is to be
 * freed. */
int members_room_new(dcoll_team_t *team, struct members_room *room);
void members_room_free(struct members_room *room);

/* Collective: cards, ledgers and cores of all ranks, by which the team's tables
 * and limits become equal, and all have attached to the node's ledgers. */
int members_exchange(dcoll_team_t *team, const struct members_room *room);

#endif

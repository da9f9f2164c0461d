/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_MEMBERS_H
#define DCOLL_MEMBERS_H

#include "coll/run/cores.h"
#include "coll/run/team.h"

/* What members_exchange needs for each rank, that it can't fail before the
 * others have heard of it. */
union members_room {
    drail_key_t ledger;
    struct cores cores;
    bool readable;
};

/* Collective: cards, ledgers and cores of all ranks, by which the team's tables
 * and limits become equal, and all have attached to the node's ledgers. */
int members_exchange(dcoll_team_t *team, union members_room *room);

#endif

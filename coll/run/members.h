/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_MEMBERS_H
#define DCOLL_MEMBERS_H

#include "coll/run/team.h"

/* Collective: cards, ledgers and cores of all ranks, by which the team's tables
 * and limits become equal, and all have attached to the node's ledgers. */
int members_exchange(dcoll_team_t *team);

#endif

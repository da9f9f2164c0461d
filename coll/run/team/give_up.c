/* SPDX-License-Identifier: BSD-3-Clause */
/* For ranks that cannot go on (dcoll.h). */
#include "coll/run/team/ledger.h"
#include "coll/run/team/team.h"

int dcoll_team_error(const dcoll_team_t *team)
{
    return team->broken;
}

void dcoll_team_give_up(dcoll_team_t *team, int code, const char *why)
{
    ledger_break_if(team, team_fail(team, code, "%s", why));
}

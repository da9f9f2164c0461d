/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/team/team.h"

int team_rail_fail(dcoll_team_t *team, int code)
{
    /* all ranks had granted access: only one that gave up or died revokes it */
    if (code == DRAIL_EACCESS)
        code = DRAIL_EPEER;
    int why = code == DRAIL_EPEER ? ledger_find_error(team) : 0;
    if (why)
        return why;
    return team_fail(team, code, "%s", drail_last_error(team->rail));
}

int team_connect(dcoll_team_t *team, unsigned peer)
{
    if (team->connected[peer])
        return 0;
    int rc = drail_connect(team->rail, team_peer(team, peer));
    if (rc)
        return team_rail_fail(team, rc);
    team->connected[peer] = true;
    return 0;
}

unsigned dcoll_team_peer(const dcoll_team_t *team, unsigned rank)
{
    return rank < team->shape.nranks ? team_peer(team, rank) : UINT_MAX;
}

const dcoll_shape_t *dcoll_team_shape(const dcoll_team_t *team)
{
    return &team->shape;
}

const dcoll_config_t *dcoll_team_config(const dcoll_team_t *team)
{
    return &team->cfg;
}

const char *dcoll_last_error(const dcoll_team_t *team)
{
    return team->error.text;
}

void dcoll_times_begin(dcoll_team_t *team)
{
    team->times = (dcoll_times_t){0};
    team->timed = true;
}

void dcoll_times_end(dcoll_team_t *team, dcoll_times_t *times)
{
    team->timed = false;
    if (times)
        *times = team->times;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/ports_left.h"
#include "coll/run/prepare/choose.h"

#define LONG_BYTES    (256u << 10) /* from here on auto looks at ports */
#define COUNTED_BYTES (16u << 20)

bool ports_left_matter(const dcoll_team_t *team)
{
    const unsigned rails = drail_nrails(team->rail);
    return rails > 1 && team->shape.ports == rails && !team->port_begin &&
           !team->table.count && !platform_is_simulated(team->platform) &&
           team->shape.nranks > 2 && team->shape.nnodes == team->shape.nranks;
}

bool ports_left_count(dcoll_team_t *team, const dcoll_call_t *call,
                      const dcoll_args_t *args)
{
    struct ports_left *p = &team->ports_left;
    if (!p->watched || args->collective != DCOLL_ALLREDUCE ||
        args->bytes < LONG_BYTES || !choice_is_auto(call->algorithm))
        return false;
    p->bytes += args->bytes;
    if (p->bytes < COUNTED_BYTES)
        return false;
    p->bytes = 0;
    return true;
}

/* Ranks of several hosts use no rails that stay within one. */
static uint32_t rails_left(const dcoll_team_t *team)
{
    const drail_t *rail = team->rail;
    uint32_t left = 0;
    for (unsigned r = 0; r < drail_nrails(rail); r++) {
        drail_rail_stats_t stats;
        if (team->several_hosts && drail_rail_at(rail, r)->host_only)
            continue;
        drail_rail_stats(rail, r, &stats);
        left += !stats.links || stats.links_up;
    }
    return left ? left : 1;
}

static void take(dcoll_team_t *team)
{
    struct ports_left *p = &team->ports_left;
    bool changed = false;
    p->differ = false;
    for (unsigned r = 0; r < team->shape.nranks; r++) {
        const unsigned end = p->begin[r] + p->rails[r];
        changed |= p->begin[r + 1] != end;
        p->begin[r + 1] = end;
        p->differ |= p->rails[r] != p->rails[0];
    }
    if (changed) /* the choice depended on it */
        team->latest[DCOLL_ALLREDUCE].algorithm = NULL;
}

int ports_left_renew(dcoll_team_t *team, learn_run_t *run)
{
    const uint32_t mine = rails_left(team);
    const dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                               .send = &mine,
                               .recv = team->ports_left.rails,
                               .bytes = sizeof mine};
    const int rc = learn_choose_and_run(team, &call, run);
    if (!rc)
        take(team);
    return learn_all_lack_memory(team, rc) ? 0 : rc;
}

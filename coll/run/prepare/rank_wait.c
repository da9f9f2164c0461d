/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/prepare/rank_wait.h"
#include "coll/run/execute/notifications.h"
#include "coll/run/execute/wait.h"

#define MS           1000000ull
#define SPIN_NS      (2 * MS)
#define NAP_LEAST_NS 50000u
#define NAP_MOST_NS  MS

static uint64_t timeout_ns(const dcoll_team_t *team)
{
    return (uint64_t)team->timeout_ms * MS;
}

void rank_wait_begin(struct rank_wait *w, dcoll_team_t *team)
{
    *w = (struct rank_wait){
        .team = team,
        .deadline =
            deadline_after(platform_now(team->platform), timeout_ns(team)),
    };
    spin_init(&w->spin, team->platform,
              team->oversubscribed ? 0 : SPIN_YIELD_NS, SPIN_NS);
    spin_begin(&w->spin);
}

void rank_wait_follow(struct rank_wait *w, const struct standing *s)
{
    bool moved = ledger_moved_since(&w->moved, s->moved);
    if (moved || s->reached > ledger_reached(w->team->ledger))
        w->deadline =
            deadline_after(w->deadline.looked_ns, timeout_ns(w->team));
    ledger_record_wait(w->team, s);
}

int rank_wait_progress(struct rank_wait *w)
{
    deadline_turn(&w->deadline, platform_now(w->team->platform));
    int rc = team_progress(w->team);
    return rc ? rc : team_advance_requests(w->team);
}

bool rank_wait_is_over(const struct rank_wait *w)
{
    return !deadline_left(&w->deadline);
}

void rank_wait_pause(struct rank_wait *w)
{
    uint64_t waited = timeout_ns(w->team) - deadline_left(&w->deadline);
    if (!spin_more(&w->spin))
        platform_sleep(w->team->platform,
                       spin_slice_ns(waited, NAP_LEAST_NS, NAP_MOST_NS));
}

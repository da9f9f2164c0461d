/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that ranks skip (dcoll_team_skip). A rank does not know which call the
 * others make instead, and data of its next call could pass for data of that
 * one. So before its next call it waits until all ranks have skipped the same
 * call. If a rank has made it, the team breaks.
 */
#ifndef DCOLL_SKIP_H
#define DCOLL_SKIP_H

#include "coll/run/team/team.h"

/* Looks once. 0: all ranks have skipped what this one has; DRAIL_EAGAIN: not
 * yet, or not known; or an error of the team. */
int skips_try_settle(dcoll_team_t *team);
/* Waits for that. 0, or an error of the team. */
int skips_await(dcoll_team_t *team);

static inline int skips_settle(dcoll_team_t *team)
{
    const struct skips *s = &team->skips;
    return s->made == s->shared ? 0 : skips_await(team);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/cache/rotation.h"
#include "coll/run/prepare/create.h"
#include "coll/run/prepare/skip.h"
#include "coll/run/cache/cache.h"
#include "coll/run/learn.h"

/* Preparing a request may drop others, also one of these: then there is no
 * room. */
int rotation_prepare(dcoll_team_t *team, const dcoll_args_t *args,
                     const dcoll_algorithm_t *algorithm)
{
    dcoll_request_t *q;
    for (unsigned i = 0; i < ROTATION; i++) {
        if (cache_peek_next(team, args, algorithm))
            return 0;
        int rc = request_create(team, args, algorithm, OWNER_NONBLOCKING, &q);
        if (rc)
            return rc;
        cache_trim(team);
    }
    return cache_peek_next(team, args, algorithm)
               ? 0
               : team_fail(team, DRAIL_ENOMEM,
                           "%s: keep_bytes leaves no room for %u requests",
                           dcoll_collective_name(args->collective), ROTATION);
}

int rotation_would_wait(dcoll_team_t *team, const dcoll_args_t *args,
                        const dcoll_algorithm_t *algorithm)
{
    const dcoll_request_t *q = cache_peek_next(team, args, algorithm);
    if (!q)
        return DRAIL_ENOTSUP;
    int rc = skips_try_settle(team);
    if (rc)
        return rc == DRAIL_EAGAIN ? rc : ledger_break_if(team, rc);
    return q->active || q->handles ? DRAIL_EAGAIN : 0;
}

static int with_chosen(dcoll_team_t *team, const dcoll_call_t *call,
                       int (*act)(dcoll_team_t *team, const dcoll_args_t *args,
                                  const dcoll_algorithm_t *algorithm))
{
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    if (!team)
        return DRAIL_EINVAL;
    int rc = learn_choose(team, call, &args, &algorithm);
    return rc ? rc : act(team, &args, algorithm);
}

int dcoll_prepare(dcoll_team_t *team, const dcoll_call_t *call)
{
    return with_chosen(team, call, rotation_prepare);
}

int dcoll_would_wait(dcoll_team_t *team, const dcoll_call_t *call)
{
    return with_chosen(team, call, rotation_would_wait);
}

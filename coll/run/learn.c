/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/learn.h"
#include "coll/run/cache/cache.h"
#include "coll/run/prepare/choose.h"

int learn_choose_and_run(dcoll_team_t *team, const dcoll_call_t *call,
                         learn_run_t *run)
{
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    int rc = call_choose(team, call, true, &args, &algorithm);
    return rc ? rc : run(team, call, &args, algorithm, false);
}

bool learn_all_lack_memory(const dcoll_team_t *team, int rc)
{
    return rc == DRAIL_ENOMEM && !team->broken;
}

/* Within a node no connection is made for it. */
static int agree(dcoll_team_t *team, struct contest *c, learn_run_t *run)
{
    double slowest[CONTEST_TIMES];
    const dcoll_call_t call = {
        .collective = DCOLL_ALLREDUCE,
        .send = c->seconds,
        .recv = slowest,
        .bytes = sizeof slowest,
        .algorithm = team->shape.nnodes > 1 ? "doubling" : NULL,
        .reduction = dcoll_reduction(DCOLL_DOUBLE, DCOLL_MAX),
    };
    int rc = learn_choose_and_run(team, &call, run);
    if (!rc)
        contest_decide(c, slowest);
    else if (learn_all_lack_memory(team, rc))
        contest_abandon(c);
    return learn_all_lack_memory(team, rc) ? 0 : rc;
}

static int run_timed(dcoll_team_t *team, struct contest *c,
                     const dcoll_call_t *call, const dcoll_args_t *args,
                     const dcoll_algorithm_t *algorithm, learn_run_t *run)
{
    const dcoll_call_t barrier = {.collective = DCOLL_BARRIER};
    int rc = learn_choose_and_run(team, &barrier, run);
    uint64_t begin = platform_now(team->platform);
    if (!rc)
        rc = run(team, call, args, algorithm, false);
    uint64_t took = platform_now(team->platform) - begin;
    if (!rc && contest_record(c, (double)took / 1e9))
        rc = agree(team, c, run);
    return rc;
}

static struct contest *contest_for(dcoll_team_t *team, const dcoll_call_t *call,
                                   const dcoll_args_t *args)
{
    return team->learns && choice_is_auto(call->algorithm)
               ? contest_of(&team->contests, &team->shape, args)
               : NULL;
}

int learn_choose(dcoll_team_t *team, const dcoll_call_t *call,
                 dcoll_args_t *args, const dcoll_algorithm_t **algorithm)
{
    int rc = call_choose(team, call, true, args, algorithm);
    struct contest *c =
        !rc && team->shape.nnodes == 1 ? contest_for(team, call, args) : NULL;
    if (c && c->over && !cache_peek_next(team, args, *algorithm))
        contest_next(c, &team->shape, args, algorithm);
    return rc;
}

int learn_run(dcoll_team_t *team, const dcoll_call_t *call,
              const dcoll_args_t *args, const dcoll_algorithm_t *algorithm,
              learn_run_t *run)
{
    struct contest *c = contest_for(team, call, args);
    dcoll_args_t tried = *args;
    const dcoll_algorithm_t *taken = algorithm;
    int rc;
    if (c && contest_next(c, &team->shape, &tried, &taken)) {
        rc = run_timed(team, c, call, &tried, taken, run);
        if (learn_all_lack_memory(team, rc)) { /* the rules may need less */
            contest_abandon(c);
            taken = algorithm;
            rc = run(team, call, args, algorithm, true);
        }
        team->times.algorithm = taken;
    } else {
        rc = run(team, call, &tried, taken, !c || c->over);
    }
    team->times.learning = c && contest_is_open(c, &team->shape, args);
    return rc;
}

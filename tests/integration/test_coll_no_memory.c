/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank has no memory for a new team: all ranks get an error and no team, and
 * the job still works. This program's calloc() refuses; sanitizers replace
 * calloc(), so there it does not.
 */
#include "coll/dcoll.h"

#include "ranks.h"
#include "refuse.h"

enum { RANKS = 3 };

struct outcome {
    int rc;
    bool refused; /* else there were fewer calls */
};

static struct outcome create(struct rank *r, unsigned nth, dcoll_team_t **team)
{
    drail_error_t err = {0};
    refuse(nth, NULL);
    int rc = dcoll_team_create(r->job, r->t, NULL, team, &err);
    struct outcome mine = {rc, nth && !refuse_at};
    refuse(0, NULL);
    if (rc)
        check(err.code == rc && strstr(err.text, "dcoll_team_create: "));
    return mine;
}

static void no_memory(struct rank *r)
{
    struct outcome all[RANKS] = {{0}};
    int failed = 0;
    for (unsigned nth = 1; nth == 1 || all[1].refused; nth++) {
        dcoll_team_t *team = NULL;
        struct outcome mine = create(r, r->rank == 1 ? nth : 0, &team);
        check(drail_job_allgather(r->job, &mine, sizeof mine, all, -1) == 0);
        for (unsigned i = 0; i < RANKS; i++)
            check(!all[i].rc == !mine.rc);
        failed += mine.rc != 0;
        check(!mine.rc == (team != NULL));
        if (team)
            expect(r, 0, dcoll_barrier(team));
        barrier(r);
        dcoll_team_free(team);
    }
    check(failed >= REFUSALS);
}

/* What can't be used by one is refused to all. */
static void bad_depth(struct rank *r)
{
    dcoll_config_t cfg;
    dcoll_team_t *team;
    drail_error_t err = {0};
    dcoll_config_init(&cfg);
    cfg.depth = r->rank == 1 ? 3 : 2;
    expect(r, DRAIL_EINVAL, dcoll_team_create(r->job, r->t, &cfg, &team, &err));
    check(strstr(err.text, r->rank == 1 ? "depth 3" : "rank 1") != NULL);
    expect(r, DRAIL_EINVAL, dcoll_team_create(r->job, NULL, &cfg, &team, &err));
    check(err.code == DRAIL_EINVAL);
}

static const struct test tests[] = {
    {"no memory for a team", RANKS, no_memory, NULL, APART},
    {"a depth that is not allowed", RANKS, bad_depth, NULL, APART},
};

RUN_TESTS(tests)

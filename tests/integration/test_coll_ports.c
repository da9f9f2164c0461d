/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of an algorithm is a rail: reads and messages without data take it,
 * as the puts do. */
#include "coll/dcoll.h"

#include "ranks.h"

enum { BYTES = 64, CALLS = 8 };

static void run_calls(struct rank *r, dcoll_collective_t collective,
                      const char *algorithm)
{
    static unsigned char send[BYTES], recv[BYTES * 8];
    dcoll_call_t call = {collective, send, recv, BYTES, 0, algorithm};
    dcoll_team_t *team;
    if (collective == DCOLL_BARRIER)
        call = (dcoll_call_t){collective, NULL, NULL, 0, 0, algorithm};
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    for (unsigned i = 0; i < CALLS; i++)
        expect(r, 0, dcoll_run(team, &call));
    barrier(r);
    dcoll_team_free(team);
}

/* Ranks 0 and 2 each read from 3 others: two blocks by port 0, one by 1. */
static void reads(struct rank *r)
{
    drail_rail_stats_t before[2], after[2];
    for (unsigned i = 0; i < 2; i++)
        drail_rail_stats(r->t, i, &before[i]);
    run_calls(r, DCOLL_ALLGATHER, "pull");
    for (unsigned i = 0; i < 2; i++) {
        drail_rail_stats(r->t, i, &after[i]);
        check(after[i].gets - before[i].gets == (i ? 1 : 2) * CALLS);
    }
}

/* One step, 1 and 2 ranks on: a message a port. */
static void notifications(struct rank *r)
{
    drail_rail_stats_t before[2], after[2];
    for (unsigned i = 0; i < 2; i++)
        drail_rail_stats(r->t, i, &before[i]);
    run_calls(r, DCOLL_BARRIER, "dissemination");
    for (unsigned i = 0; i < 2; i++) {
        drail_rail_stats(r->t, i, &after[i]);
        check(after[i].sends - before[i].sends >= CALLS);
        check(after[i].sends - before[i].sends < 2 * CALLS);
    }
}

static void nonthreaded(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static const struct test tests[] = {
    {"reads take the rail of their port", 4, reads, nonthreaded, APART},
    {"barriers use all ports", 3, notifications, nonthreaded, APART},
};

RUN_TESTS(tests)

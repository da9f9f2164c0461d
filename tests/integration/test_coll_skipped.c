/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that ranks skip: all ranks, which has no effect, or one of them. */
#include "coll/dcoll.h"

#include "ranks.h"

#define BYTES 16
enum { RANKS = 3, MISSING = 1 };

static int gather_all(dcoll_team_t *team)
{
    unsigned char send[BYTES] = {0}, recv[RANKS * BYTES];
    return dcoll_allgather(team, send, recv, BYTES);
}

static void skipped(struct rank *r)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, gather_all(team));
    dcoll_team_skip(team);
    expect(r, 0, gather_all(team));
    check(dcoll_team_error(team) == 0);
    if (r->rank == MISSING) {
        dcoll_team_skip(team);
        nap(500);         /* its next one would do for them, meanwhile */
        gather_all(team); /* as what they have sent does for it */
    }
    expect(r, DRAIL_EINVAL, gather_all(team));
    check(strstr(dcoll_last_error(team), "rank 1 is none") != NULL ||
          strstr(dcoll_last_error(team), "gave up") != NULL);
    expect(r, DRAIL_EINVAL, dcoll_team_error(team));
    barrier(r);
    dcoll_team_free(team);
}

/* before, or after, the call has been prepared */
static void give_up(struct rank *r, bool prepared)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    if (prepared)
        expect(r, 0, gather_all(team));
    if (r->rank == MISSING)
        dcoll_team_give_up(team, DRAIL_EACCESS, "it must not");
    expect(r, DRAIL_EACCESS, gather_all(team));
    check(strstr(dcoll_last_error(team), "it must not") != NULL);
    expect(r, DRAIL_EACCESS, dcoll_team_error(team));
    barrier(r);
    dcoll_team_free(team);
}

static void given_up(struct rank *r)
{
    give_up(r, false);
    give_up(r, true);
}

static void patient(drail_config_t *cfg)
{
    cfg->timeout_ms = 20000; /* they hear of it before */
}

static const struct test tests[] = {
    {"skipped", RANKS, skipped, patient, APART},
    {"skipped, several nodes", RANKS, skipped, patient, APART | PPN(1)},
    {"given up", RANKS, given_up, patient, APART},
    {"given up, several nodes", RANKS, given_up, patient, APART | PPN(1)},
};

RUN_TESTS(tests)

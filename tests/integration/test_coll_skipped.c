/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that ranks skip: all ranks, which has no effect, or one of them. */
#include "coll/dcoll.h"

#include "ranks.h"

#define BYTES 16
enum { RANKS = 3, MANY = 5, MISSING = 1 };

static int gather_all(dcoll_team_t *team)
{
    unsigned char send[BYTES] = {0}, recv[RANKS * BYTES];
    return dcoll_allgather(team, send, recv, BYTES);
}

static void expect_differ(struct rank *r, const dcoll_team_t *team, int rc)
{
    const char *why = dcoll_last_error(team);
    expect(r, DRAIL_EINVAL, rc);
    check(strstr(why, "rank 1 is none") != NULL ||
          strstr(why, "gave up") != NULL);
    expect(r, DRAIL_EINVAL, dcoll_team_error(team));
}

/* The next call of the missing rank would do for the others, as what they have
 * sent does for it. */
static void skipped(struct rank *r)
{
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, gather_all(team));
    dcoll_team_skip(team);
    expect(r, 0, gather_all(team));
    check(dcoll_team_error(team) == 0);
    if (r->rank == MISSING)
        dcoll_team_skip(team);
    expect_differ(r, team, gather_all(team));
    barrier(r);
    dcoll_team_free(team);
}

/* The root does not wait for the missing rank, and runs ahead. */
static void broadcast_skipped(struct rank *r)
{
    unsigned char block[BYTES];
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    for (unsigned char i = 0; i < 4; i++) {
        const dcoll_call_t call = {DCOLL_BCAST, NULL,     block, BYTES,
                                   0,           "direct", NULL,  NULL};
        memset(block, r->rank ? 0 : i + 1, BYTES);
        if (i == 2 && r->rank == MISSING)
            dcoll_team_skip(team);
        else if (i == 3 && r->rank == MISSING)
            expect_differ(r, team, dcoll_run(team, &call));
        else
            expect(r, 0, dcoll_run(team, &call));
        check(block[0] == i + 1 || (i >= 2 && r->rank == MISSING));
        barrier(r);
    }
    dcoll_team_free(team);
}

/* Calls that do not block wait until all ranks have skipped it. */
static void all_skip(struct rank *r)
{
    unsigned char send[BYTES], recv[MANY * BYTES];
    const dcoll_call_t call = {
        DCOLL_ALLGATHER, send, recv, BYTES, 0, NULL, NULL, NULL};
    dcoll_request_t *mine, *q;
    dcoll_team_t *team;
    int rc;
    memset(send, (int)r->rank, sizeof send);
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, dcoll_prepare(team, &call));
    expect(r, 0, dcoll_init(team, &call, &mine));
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned skips = i % 3; skips; skips--)
            dcoll_team_skip(team);
        barrier(r);
        if (i % 3 && r->rank == MISSING) {
            expect(r, DRAIL_EAGAIN, dcoll_would_wait(team, &call));
            barrier_outside(r);
        } else if (i % 3) {
            barrier_outside(r);
        }
        memset(recv, 99, r->size * BYTES);
        if (i % 2) {
            while ((rc = dcoll_would_wait(team, &call)) == DRAIL_EAGAIN)
                ;
            expect(r, 0, rc);
            expect(r, 0, dcoll_begin(team, &call, &q));
        } else {
            expect(r, 0, dcoll_start(q = mine));
        }
        expect(r, 0, dcoll_wait(q, -1));
        for (unsigned at = 0; at < r->size * BYTES; at++)
            check(recv[at] == at / BYTES);
    }
    expect(r, 0, dcoll_free(mine));
    expect(r, 0, dcoll_barrier(team));
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
    {"a broadcast is skipped", RANKS, broadcast_skipped, patient, APART},
    {"a broadcast is skipped, several nodes", RANKS, broadcast_skipped, patient,
     APART | PPN(1)},
    {"all skip", RANKS, all_skip, patient, APART},
    {"all skip, several nodes", MANY, all_skip, patient, APART | PPN(1)},
    {"all skip, nodes of two", MANY, all_skip, patient, APART | PPN(2)},
    {"given up", RANKS, given_up, patient, APART},
    {"given up, several nodes", RANKS, given_up, patient, APART | PPN(1)},
};

RUN_TESTS(tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slow rank is not a dead rank. A credit may cover many starts, so one wait
 * of a rank may need many starts of a slow one, longer than the timeout; also
 * through a third rank. Each call of the slow rank restarts the timeouts of all
 * ranks that wait for it. A rank that makes no call lets them time out.
 */
#include "coll/dcoll.h"

#include "ranks.h"

/* A group of starts takes the slow rank twice as long as the timeout. */
enum {
    TIMEOUT_MS = 500,
    NAP_MS = 60,
    STARTS = 36,
    LIMIT = 8 /* seconds */
};

static void impatient(drail_config_t *cfg)
{
    cfg->timeout_ms = TIMEOUT_MS;
}

static dcoll_team_t *team_of(struct rank *r, dcoll_collective_t collective,
                             const char *algorithm, dcoll_request_t **q)
{
    static uint64_t send[8], recv[8];
    const dcoll_call_t call = {.collective = collective,
                               .send = send,
                               .recv = recv,
                               .bytes = sizeof *send,
                               .algorithm = algorithm};
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, dcoll_init(team, &call, q));
    return team;
}

static void with_slow(struct rank *r, unsigned slow,
                      dcoll_collective_t collective, const char *algorithm)
{
    dcoll_request_t *q;
    dcoll_team_t *team = team_of(r, collective, algorithm, &q);
    for (unsigned start = 0; start < STARTS; start++) {
        if (r->rank == slow)
            nap(NAP_MS);
        expect(r, 0, dcoll_start(q));
        expect(r, 0, dcoll_wait(q, -1));
    }
    expect(r, 0, dcoll_barrier(team)); /* ranks that are ahead prepare it */
    expect(r, 0, dcoll_free(q));
    barrier(r);
    dcoll_team_free(team);
}

/* Rank 3 waits for 2, its master, which waits for the root. */
static void slow_root(struct rank *r)
{
    with_slow(r, 0, DCOLL_GATHER, "smp-gather");
}

/* Ranks 1 and 2 wait for the root, which waits for 3. */
static void slow_leaf(struct rank *r)
{
    with_slow(r, 3, DCOLL_SCATTER, "direct");
}

static void no_root(struct rank *r)
{
    dcoll_request_t *q;
    dcoll_team_t *team = team_of(r, DCOLL_GATHER, "smp-gather", &q);
    double begin = seconds();
    int rc = 0;
    while (r->rank && !rc) {
        rc = dcoll_start(q);
        if (!rc)
            rc = dcoll_wait(q, -1);
    }
    if (r->rank)
        expect(r, DRAIL_ETIMEOUT, rc);
    check(seconds() - begin < LIMIT);
    barrier(r);
    dcoll_free(q);
    barrier(r);
    dcoll_team_free(team);
}

static const struct test tests[] = {
    {"a root that is slow", 4, slow_root, impatient, APART | PPN(2)},
    {"a rank that is slow", 4, slow_leaf, impatient, APART | PPN(1)},
    {"a root that never comes", 4, no_root, impatient, APART | PPN(2)},
};

RUN_TESTS(tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call of DAT and each allocation fails in turn, while a team is created
 * and used on an open transport.
 */
#include "coll/dcoll.h"
#include "faults_try.h"

#define BLOCK 3000u

struct buffers {
    unsigned char *send, *recv;
};

static int right(const struct rank *r, const struct buffers *b)
{
    for (unsigned from = 0; from < r->size; from++)
        for (unsigned i = 0; i < BLOCK; i++)
            if (b->recv[from * BLOCK + i] != from + 1)
                return DRAIL_EINVAL;
    return 0;
}

static void clear(const struct rank *r, struct buffers *b)
{
    memset(b->send, (int)r->rank + 1, RANKS * BLOCK);
    memset(b->recv, 0, RANKS * BLOCK);
}

static int once(struct rank *r, dcoll_team_t *team, struct buffers *b,
                enum dcoll_collective kind, const char *algorithm)
{
    const dcoll_call_t call = {kind, b->send,   b->recv, BLOCK,
                               0,    algorithm, NULL,    NULL};
    clear(r, b);
    int rc = dcoll_run(team, &call);
    return rc ? rc : right(r, b);
}

static int persistent(struct rank *r, dcoll_team_t *team, struct buffers *b)
{
    const dcoll_call_t call = {DCOLL_ALLGATHER, b->send, b->recv, BLOCK, 0,
                               "ring",          NULL,    NULL};
    dcoll_request_t *request = NULL;
    int rc = dcoll_init(team, &call, &request);
    for (unsigned i = 0; !rc && i < 2; i++) {
        clear(r, b);
        rc = dcoll_start(request);
        rc = rc ? rc : dcoll_wait(request, -1);
        rc = rc ? rc : right(r, b);
    }
    if (request)
        dcoll_free(request);
    return rc;
}

static void use(struct rank *r, dcoll_team_t *team)
{
    struct buffers b = {malloc(RANKS * BLOCK), malloc(RANKS * BLOCK)};
    if (STEP(once(r, team, &b, DCOLL_ALLGATHER, "ring")) &&
        STEP(once(r, team, &b, DCOLL_ALLTOALL, "direct")) &&
        STEP(once(r, team, &b, DCOLL_ALLGATHER, NULL)))
        STEP(persistent(r, team, &b));
    free(b.send);
    free(b.recv);
}

static void team(struct rank *r, const drail_config_t *cfg)
{
    dcoll_team_t *team = NULL;
    dcoll_config_t how;
    drail_error_t err = {0};
    check(drail_open(r->job, cfg, &r->t, &err) == 0);
    expect(r, 0, drail_connect(r->t, r->peer));
    dcoll_config_init(&how);
    barrier(r);
    faults_pause(false);
    STEP(dcoll_team_create(r->job, r->t, &how, &team, &err));
    check(!playing->rc == (team != NULL));
    if (all_well(r))
        use(r, team);
    await_peer(r, r->t);
    dcoll_team_free(team);
    drail_close(r->t);
    r->t = NULL;
}

FAULTS_TESTS(team)

RUN_TESTS_AFTER(faults_open(), 1, tests)

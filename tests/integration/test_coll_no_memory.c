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

/* Rank 1 has no memory to check its call; the others make it. */
static void no_memory_for_a_call(struct rank *r, bool persistent)
{
    size_t counts[RANKS] = {1, 1, 1}, displs[RANKS] = {0, 1, 2};
    unsigned char send[RANKS] = {0}, recv[RANKS];
    const dcoll_alltoallv_t call = {.send = send,
                                    .send_counts = counts,
                                    .send_displs = displs,
                                    .recv = recv,
                                    .recv_counts = counts,
                                    .recv_displs = displs,
                                    .element = 1,
                                    .max_pair = 1,
                                    .max_rank = RANKS};
    dcoll_request_t *q = NULL;
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    expect(r, 0, dcoll_alltoallv(team, &call)); /* is prepared */
    if (persistent)
        expect(r, 0, dcoll_alltoallv_init(team, &call, &q));
    barrier(r);
    double begin = seconds();
    refuse(r->rank == 1, "libdcoll.");
    int rc = q ? dcoll_start(q) : dcoll_alltoallv(team, &call);
    refuse(0, NULL);
    if (q && !rc)
        rc = dcoll_wait(q, -1);
    check(rc == (REFUSALS ? DRAIL_ENOMEM : 0));
    check(seconds() - begin < 2);
    barrier(r);
    dcoll_free(q);
    dcoll_team_free(team);
}

static void bounded(struct rank *r)
{
    no_memory_for_a_call(r, false);
    no_memory_for_a_call(r, true);
}

static void patient(drail_config_t *cfg)
{
    cfg->timeout_ms = 20000;
}

/* A depth that a rank can't use is refused to all. */
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

/* So are ports of a rank; ranks with different ones learn it in a call. */
static void bad_ports(struct rank *r)
{
    const dcoll_reduction_t *sum = dcoll_reduction(DCOLL_UINT64, DCOLL_SUM);
    unsigned begin[RANKS + 1] = {0, 1, 3, 4};
    uint64_t send = 1, recv;
    dcoll_config_t cfg;
    dcoll_team_t *team;
    drail_error_t err = {0};
    dcoll_config_init(&cfg);
    cfg.ports = 2;
    cfg.port_begin = begin;
    begin[RANKS] = r->rank == 1 ? 3 : 4;
    expect(r, DRAIL_EINVAL, dcoll_team_create(r->job, r->t, &cfg, &team, &err));
    check(strstr(err.text, r->rank == 1 ? "has 0 ports" : "rank 1") != NULL);
    begin[RANKS] = r->rank == 1 ? 5 : 4;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &team, &err));
    expect(r, DRAIL_EINVAL, dcoll_allreduce(team, &send, &recv, 1, sum));
    barrier(r); /* the others look at our ledger */
    dcoll_team_free(team);
}

static const struct test tests[] = {
    {"no memory for a team", RANKS, no_memory, NULL, APART},
    {"no memory for a call", RANKS, bounded, patient, APART},
    {"no memory for a call, several nodes", RANKS, bounded, patient,
     APART | PPN(1)},
    {"a depth that is not allowed", RANKS, bad_depth, NULL, APART},
    {"ports that are not allowed", RANKS, bad_ports, NULL, APART},
};

RUN_TESTS(tests)

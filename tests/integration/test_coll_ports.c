/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port of an algorithm is a rail: puts, gets and messages without data use
 * it.
 */
#include <string.h>
#include <unistd.h>

#include "coll/dcoll.h"

#include "ranks.h"
#include "readable.h"

enum { BYTES = 64, CALLS = 8 };

/* Blocking calls; or, persistent, starts of one request. */
static void run_calls(struct rank *r, const dcoll_call_t *call, bool persistent)
{
    dcoll_team_t *team;
    dcoll_request_t *q = NULL;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    if (persistent)
        expect(r, 0, dcoll_init(team, call, &q));
    for (unsigned i = 0; i < CALLS; i++) {
        expect(r, 0, persistent ? dcoll_start(q) : dcoll_run(team, call));
        if (persistent)
            expect(r, 0, dcoll_wait(q, -1));
    }
    barrier(r);
    dcoll_team_free(team);
}

/* Ranks 0 and 2 each read from 3 others: two blocks by port 0, one by 1. */
static void pull(struct rank *r, void *send, void *recv, bool persistent,
                 unsigned part)
{
    const dcoll_call_t call = {DCOLL_ALLGATHER, send, recv, BYTES, 0,
                               "pull",          NULL, NULL};
    drail_rail_stats_t before[2], after[2];
    memset(send, (int)r->rank + 1, BYTES);
    memset(recv, 0, (size_t)BYTES * r->size);
    for (unsigned i = 0; i < 2; i++)
        drail_rail_stats(r->t, i, &before[i]);
    run_calls(r, &call, persistent);
    for (unsigned i = 0; i < 2; i++) {
        drail_rail_stats(r->t, i, &after[i]);
        check(after[i].gets - before[i].gets == (i ? 1 : 2) * part * CALLS);
    }
    for (unsigned i = 0; i < BYTES * r->size; i++)
        check(((unsigned char *)recv)[i] == i / BYTES + 1);
}

static void reads(struct rank *r)
{
    static unsigned char send[BYTES], recv[BYTES * 8];
    pull(r, send, recv, true, 1);
}

/* A blocking call reads plain memory without rails. Memory that was allocated
 * for rails goes over them, if both ends are. */
static void blocking(struct rank *r)
{
    static unsigned char send[BYTES], recv[BYTES * 8];
    void *source, *target;
    drail_mem_t *mem[2];
    expect(r, 0,
           drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_REMOTE_READ, &source,
                           &mem[0]));
    expect(r, 0,
           drail_mem_alloc(r->t, sizeof recv, DRAIL_ACCESS_REMOTE_WRITE,
                           &target, &mem[1]));
    bool may = ranks_are_readable(r);
    pull(r, send, recv, false, may ? 0 : 1);
    pull(r, source, recv, false, may ? 0 : 1);
    pull(r, send, target, false, may ? 0 : 1);
    pull(r, source, target, false, 1);
}

/* A step to the ranks 1 and 2 ahead: a message a port. */
static void notifications(struct rank *r)
{
    drail_rail_stats_t before[2], after[2];
    for (unsigned i = 0; i < 2; i++)
        drail_rail_stats(r->t, i, &before[i]);
    const dcoll_call_t call = {.collective = DCOLL_BARRIER,
                               .algorithm = "dissemination"};
    run_calls(r, &call, false);
    for (unsigned i = 0; i < 2; i++) {
        drail_rail_stats(r->t, i, &after[i]);
        check(after[i].sends - before[i].sends >= CALLS);
        check(after[i].sends - before[i].sends < 2 * CALLS);
    }
}

static const struct test tests[] = {
    {"reads take the rail of their port", 4, reads, nonthreaded, APART},
    {"blocking calls read", 4, blocking, nonthreaded, APART},
    {"barriers use all ports", 3, notifications, nonthreaded, APART},
};

RUN_TESTS(tests)

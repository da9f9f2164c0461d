/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of irregular all-to-alls: which operations are counted, and when.
 */
#include "coll/dcoll.h"
#include "ranks.h"

#define RANKS 4
#define COUNT 500

static void call(dcoll_team_t *team, const char *algorithm, uint64_t *send,
                 uint64_t *recv)
{
    static const size_t counts[RANKS] = {COUNT, COUNT, COUNT, COUNT};
    const dcoll_alltoallv_t c = {.send = send,
                                 .send_counts = counts,
                                 .recv = recv,
                                 .recv_counts = counts,
                                 .element = sizeof *send,
                                 .algorithm = algorithm};
    check(dcoll_alltoallv(team, &c) == 0);
}

static uint64_t sum(const dcoll_times_t *t)
{
    return t->distribute_ns + t->collect_ns + t->deliver_ns;
}

static void times(struct rank *r)
{
    static uint64_t send[RANKS * COUNT], recv[RANKS * COUNT];
    dcoll_team_t *team;
    dcoll_times_t t;
    drail_error_t err = {0};
    check(dcoll_team_create(r->job, r->t, NULL, &team, &err) == 0);

    call(team, "a4", send, recv);
    dcoll_times_end(team, &t);
    check(sum(&t) == 0); /* not asked for */

    double start = seconds();
    dcoll_times_begin(team);
    call(team, "a4", send, recv);
    dcoll_times_end(team, &t);
    double ns = 1e9 * (seconds() - start);
    check(t.distribute_ns && t.collect_ns && t.deliver_ns);
    check((double)sum(&t) <= ns);
    check(!strcmp(t.algorithm->name, "a4"));
    uint64_t before = sum(&t);
    call(team, "a4", send, recv);
    dcoll_times_end(team, &t);
    check(sum(&t) == before); /* not any more */

    dcoll_times_begin(team); /* a3 has nothing to distribute */
    call(team, "a3-n1", send, recv);
    dcoll_times_end(team, &t);
    check(!t.distribute_ns && t.collect_ns && t.deliver_ns);

    dcoll_times_begin(team);
    call(team, "shm-alltoallv", send, recv);
    dcoll_times_end(team, NULL);
    dcoll_times_end(team, &t);
    check(t.distribute_ns && !t.collect_ns && !t.deliver_ns);
    barrier(r);
    dcoll_team_free(team);
}

static const struct test tests[] = {{"times", RANKS, times, NULL, APART}};

RUN_TESTS(tests)

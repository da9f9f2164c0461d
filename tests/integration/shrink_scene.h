/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a job are killed; the survivors shrink the team, in time, to the
 * same ranks, and the new team's collectives give the right results.
 */
#ifndef TESTS_SHRINK_SCENE_H
#define TESTS_SHRINK_SCENE_H

#include <pthread.h>
#include <signal.h>

#include "team.h"

#define RANKS_MOST 8
#define LIMIT_S    1.0 /* of dcoll_team_shrink() */
#define COUNT      5000

struct death {
    const char *name;
    unsigned nranks, ppn;
    unsigned now;    /* ranks that die in a call, as bits */
    unsigned during; /* … and while the team shrinks, after delay_us */
    unsigned delay_us;
    bool again; /* afterwards the last survivor dies, and the others shrink the
                   new team */
};

#define DEATH(text, ranks, node, ...)                                          \
    {                                                                          \
        .name = text, .nranks = ranks, .ppn = node, .now = __VA_ARGS__         \
    }

static const struct death deaths[] = {
    DEATH("the first rank", 3, 1, 1),
    DEATH("the middle rank", 3, 1, 2),
    DEATH("the last rank", 3, 0, 4),
    DEATH("the first rank", 4, 2, 1),
    DEATH("the first rank", 4, 0, 1),
    DEATH("a middle rank", 4, 2, 4),
    DEATH("the last rank", 4, 2, 8),
    DEATH("two ranks at once", 4, 1, 6),
    DEATH("one after the other", 4, 2, 2, .again = true),
    DEATH("one, and one during it", 4, 1, 2, .during = 1, .delay_us = 300),
    DEATH("the first rank", 8, 4, 1),
    DEATH("a middle rank", 8, 2, 16),
    DEATH("the last rank", 8, 0, 128),
    DEATH("a node", 8, 2, 12),
    DEATH("two ranks at once", 8, 4, 33),
    DEATH("one, and one during it", 8, 2, 128, .during = 1, .delay_us = 1000),
    DEATH("one after the other", 8, 4, 1, .again = true),
};

static struct board {
    double took[RANKS_MOST]; /* of the slowest shrink */
    bool done[RANKS_MOST];
} * board;

static void *killer(void *arg)
{
    struct timespec ts = {.tv_nsec = *(const unsigned *)arg * 1000L};
    nanosleep(&ts, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

static int64_t value(unsigned peer, unsigned start, unsigned i)
{
    return (int64_t)peer * 1000003 + start * 101 + i;
}

/* All-reduce, all-gather, broadcast and all-to-all among these ranks of the
 * job. */
static int collectives(dcoll_team_t *team, unsigned me, unsigned start)
{
    static int64_t mine[COUNT], got[RANKS_MOST * COUNT],
        each[RANKS_MOST * COUNT];
    const unsigned n = dcoll_team_shape(team)->nranks;
    const size_t count = start % 2 ? 3 : COUNT;
    for (unsigned i = 0; i < count; i++)
        mine[i] = value(me, start, i);
    int rc = dcoll_allreduce(team, mine, got, count,
                             dcoll_reduction(DCOLL_INT64, DCOLL_SUM));
    for (unsigned i = 0; !rc && i < count; i++) {
        int64_t sum = 0;
        for (unsigned r = 0; r < n; r++)
            sum += value(dcoll_team_peer(team, r), start, i);
        check(got[i] == sum);
    }
    if (!rc)
        rc = dcoll_allgather(team, mine, got, count * sizeof *mine);
    for (unsigned i = 0; !rc && i < n * count; i++)
        check(got[i] == value(dcoll_team_peer(team, i / (unsigned)count), start,
                              i % (unsigned)count));
    if (!rc)
        rc = dcoll_bcast(team, mine, count * sizeof *mine, n - 1);
    for (unsigned i = 0; !rc && i < count; i++)
        check(mine[i] == value(dcoll_team_peer(team, n - 1), start, i));
    for (unsigned i = 0; i < n * count; i++)
        each[i] = value(me, i / (unsigned)count, i);
    if (!rc)
        rc = dcoll_alltoall(team, each, got, count * sizeof *mine);
    for (unsigned i = 0, to = 0; !rc && i < n * count; i++) {
        while (dcoll_team_peer(team, to) != me)
            to++;
        unsigned from = dcoll_team_peer(team, i / (unsigned)count);
        check(got[i] ==
              value(from, to, to * (unsigned)count + i % (unsigned)count));
    }
    return rc;
}

static dcoll_team_t *shrink(struct rank *r, dcoll_team_t *team)
{
    dcoll_team_t *smaller = NULL;
    double begin = seconds();
    int rc = dcoll_team_shrink(team, &smaller);
    double took = seconds() - begin;
    team_good(r, team, rc, "dcoll_team_shrink");
    if (took > board->took[r->rank])
        board->took[r->rank] = took;
    return smaller;
}

/* The team has exactly the ranks of the job that are not among these bits. */
static void has_all_but(struct rank *r, dcoll_team_t *team, unsigned dead)
{
    unsigned n = 0;
    for (unsigned p = 0; p < r->size; p++)
        if (!(dead >> p & 1))
            check(dcoll_team_peer(team, n++) == p);
    check(dcoll_team_shape(team)->nranks == n);
}

static void break_team(struct rank *r, dcoll_team_t *team)
{
    int rc = 0;
    for (unsigned start = 0; !rc; start++)
        rc = collectives(team, r->rank, start);
    team_fails(r, team, rc, DRAIL_EPEER, NULL);
}

static void survive(struct rank *r, const struct death *d, dcoll_team_t *team)
{
    unsigned delay = d->delay_us, dead = d->now | d->during;
    pthread_t thread;
    if (d->now >> r->rank & 1)
        kill(getpid(), SIGKILL);
    break_team(r, team);
    if (d->during >> r->rank & 1)
        check(pthread_create(&thread, NULL, killer, &delay) == 0);
    dcoll_team_t *smaller = shrink(r, team);
    if (d->during) {
        /* that rank may have died after the last agreement */
        unsigned left = r->size - (unsigned)__builtin_popcount(dead);
        if (dcoll_team_shape(smaller)->nranks > left) {
            break_team(r, smaller);
            dcoll_team_t *last = shrink(r, smaller);
            dcoll_team_free(smaller);
            smaller = last;
        }
    }
    has_all_but(r, smaller, dead);
    for (unsigned start = 0; start < 6; start++)
        team_good(r, smaller, collectives(smaller, r->rank, start),
                  "a collective of the survivors");
    if (d->again) {
        unsigned last = r->size - 1;
        while (dead >> last & 1)
            last--;
        if (r->rank == last)
            kill(getpid(), SIGKILL);
        break_team(r, smaller);
        dcoll_team_t *smallest = shrink(r, smaller);
        has_all_but(r, smallest, dead | 1u << last);
        for (unsigned start = 0; start < 6; start++)
            team_good(r, smallest, collectives(smallest, r->rank, start),
                      "a collective of the last survivors");
        dcoll_team_free(smaller);
        smaller = smallest;
    }
    team_good(r, smaller, dcoll_barrier(smaller), "dcoll_barrier");
    dcoll_team_free(team);
    dcoll_team_free(smaller);
}

static int rank_lives(drail_job_t *job, void *arg)
{
    struct rank r = {
        .job = job, .rank = drail_job_rank(job), .size = drail_job_size(job)};
    drail_config_t cfg;
    drail_error_t err = {0};
    dcoll_team_t *team = NULL;
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    cfg.timeout_ms = 20000;
    check(drail_open(job, &cfg, &r.t, &err) == 0);
    check(dcoll_team_create(job, r.t, NULL, &team, &err) == 0);
    for (unsigned start = 0; start < 4; start++)
        team_good(&r, team, collectives(team, r.rank, start), "a collective");
    survive(&r, arg, team);
    drail_close(r.t);
    board->done[r.rank] = true;
    return 0;
}

static int shrink_run(const struct death *d, unsigned number)
{
    drail_error_t err = {0};
    drail_job_config_t cfg;
    double slowest = 0, begin = seconds();
    unsigned dead = d->now | d->during, survivors = 0;
    memset(board, 0, sizeof *board);
    drail_job_config_init(&cfg);
    cfg.nranks = d->nranks;
    cfg.ppn = d->ppn;
    cfg.grace_ms = 30000; /* for those that hang */
    cfg.error = &err;
    int rc = drail_job_run(&cfg, rank_lives, (void *)(uintptr_t)d);
    for (unsigned r = 0; r < d->nranks; r++) {
        survivors += board->done[r];
        if (board->took[r] > slowest)
            slowest = board->took[r];
    }
    unsigned want = d->nranks - (unsigned)__builtin_popcount(dead) - d->again;
    bool ok = rc == DRAIL_EJOB && survivors == want && slowest < LIMIT_S;
    if (!ok)
        printf("# %s; %u survivors\n", err.text, survivors);
    printf("%s %u - %u ranks, %u per node: %s (shrunk in %.0f ms; %.1f s)\n",
           ok ? "ok" : "not ok", number, d->nranks, d->ppn, d->name,
           slowest * 1e3, seconds() - begin);
    fflush(stdout);
    return !ok;
}

/* argv[1]: only those whose name contains it. */
static int shrink_all(int argc, char **argv)
{
    int failed = 0;
    unsigned number = 0;
    board = shared_memory(sizeof *board);
    for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++)
        if (argc < 2 || strstr(deaths[i].name, argv[1]))
            failed += shrink_run(&deaths[i], ++number);
    printf("1..%u\n", number);
    return failed || !number;
}

#endif

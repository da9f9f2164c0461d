/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `auto` learns between nodes that only TCP joins: all ranks take the same
 * algorithms, results stay right, and it ends. One rank that must not learn
 * keeps all from it.
 */
#include "over_tcp.h"
#include "team.h"

#define BYTES 100
#define RANKS 4
#define CALLS 130 /* more than learning takes */

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    unsigned char send[BYTES], recv[RANKS * BYTES];
};

static void use_tcp(drail_config_t *cfg)
{
    cfg->rails[0] = "tcp-a";
    cfg->nrails = 1;
}

static void scene_open(struct scene *s, struct rank *r, bool learn)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    check(cfg.learn);
    cfg.learn = learn;
    s->r = r;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &s->team, NULL));
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
}

/* Makes a call, and returns its algorithm. */
static const dcoll_algorithm_t *allgather(struct scene *s, unsigned call,
                                          bool *learning)
{
    dcoll_times_t times;
    memset(s->send, (int)(s->r->rank + 10 * call), BYTES);
    dcoll_times_begin(s->team);
    team_good(s->r, s->team, dcoll_allgather(s->team, s->send, s->recv, BYTES),
              "allgather");
    dcoll_times_end(s->team, &times);
    for (unsigned i = 0; i < RANKS * BYTES; i++)
        check(s->recv[i] == (unsigned char)(i / BYTES + 10 * call));
    *learning = times.learning;
    return times.algorithm;
}

static void same_on_all_ranks(const struct rank *r, const void *mine)
{
    const void *all[RANKS];
    check(!drail_job_allgather(r->job, &mine, sizeof mine, all, -1));
    for (unsigned i = 0; i < RANKS; i++)
        check(all[i] == mine);
}

/* dcoll_times_end() tells of the latest call, also if that one only repeats an
 * earlier one. */
static void check_latest(struct scene *s)
{
    dcoll_times_t times;
    unsigned char byte = 0;
    dcoll_times_begin(s->team);
    team_good(s->r, s->team, dcoll_bcast(s->team, &byte, 1, 0), "bcast");
    team_good(s->r, s->team, dcoll_allgather(s->team, s->send, s->recv, BYTES),
              "allgather");
    dcoll_times_end(s->team, &times);
    check(!times.learning);
}

static void learns(struct rank *r)
{
    struct scene s;
    const dcoll_algorithm_t *before, *after = NULL;
    bool learning, differed = false;
    unsigned open = 0;
    scene_open(&s, r, true);
    before = allgather(&s, 0, &learning);
    check(learning);
    for (unsigned i = 1; i < CALLS; i++) {
        after = allgather(&s, i, &learning);
        differed |= after != before;
        open += learning;
    }
    check(differed);
    check(open > 32 && open < CALLS - 20 && !learning);
    same_on_all_ranks(r, after);
    check_latest(&s);
    scene_close(&s);
}

static void one_must_not(struct rank *r)
{
    struct scene s;
    bool learning;
    scene_open(&s, r, r->rank != 2);
    const dcoll_algorithm_t *before = allgather(&s, 0, &learning);
    for (unsigned i = 1; i < CALLS; i++) {
        check(!learning);
        check(allgather(&s, i, &learning) == before);
    }
    scene_close(&s);
}

/* Other calls of the team are under way meanwhile, and other sizes are used. */
static void beside_others(struct rank *r)
{
    struct scene s;
    unsigned char mine = (unsigned char)r->rank, all[RANKS], more[2 * BYTES];
    bool learning;
    scene_open(&s, r, true);
    for (unsigned i = 0; i < CALLS; i++) {
        dcoll_request_t *q;
        const dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                                   .send = &mine,
                                   .recv = all,
                                   .bytes = 1};
        team_good(r, s.team, dcoll_begin(s.team, &call, &q), "begin");
        allgather(&s, i, &learning);
        team_good(r, s.team, dcoll_bcast(s.team, more, BYTES + i % 3, i % 2),
                  "bcast");
        team_good(r, s.team, dcoll_wait(q, -1), "wait");
        for (unsigned from = 0; from < RANKS; from++)
            check(all[from] == from);
    }
    check(!learning);
    scene_close(&s);
}

static const struct test tests[] = {
    {"all ranks learn the same", RANKS, learns, use_tcp, PPN(2)},
    {"one rank must not learn", RANKS, one_must_not, use_tcp, PPN(2)},
    {"beside other calls", RANKS, beside_others, use_tcp, PPN(2)},
};

RUN_TESTS_OVER_TCP(tests)

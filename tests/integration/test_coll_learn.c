/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `auto` learns between nodes that only TCP joins, and all-gathers within a
 * node: all ranks take the same algorithms, results stay right, and it ends.
 * One rank that must not learn keeps all from it.
 */
#include "over_tcp.h"
#include "readable.h"
#include "team.h"

#define BYTES 100
#define LONG  120000 /* bytes: enough to learn within a node */
#define RANKS 4
#define CALLS 130 /* more than learning takes */

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    size_t counts[RANKS];
    bool unequal; /* rank i has (i + 1) / RANKS of the longest block */
    unsigned char send[LONG], recv[RANKS * LONG];
};

static void use_tcp(drail_config_t *cfg)
{
    cfg->rails[0] = "tcp-a";
    cfg->nrails = 1;
}

static void scene_set(struct scene *s, size_t bytes, bool unequal)
{
    s->unequal = unequal;
    for (unsigned i = 0; i < RANKS; i++)
        s->counts[i] = unequal ? bytes * (i + 1) / RANKS : bytes;
}

static void scene_open(struct scene *s, struct rank *r, size_t bytes,
                       bool learn)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    check(cfg.learn);
    cfg.learn = learn;
    s->r = r;
    scene_set(s, bytes, false);
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
    const unsigned char *at = s->recv;
    memset(s->send, (int)(s->r->rank + 10 * call), s->counts[s->r->rank]);
    dcoll_times_begin(s->team);
    team_good(s->r, s->team,
              s->unequal
                  ? dcoll_allgatherv(s->team, s->send, s->recv, s->counts)
                  : dcoll_allgather(s->team, s->send, s->recv, s->counts[0]),
              "allgather");
    dcoll_times_end(s->team, &times);
    for (unsigned i = 0; i < RANKS; at += s->counts[i++])
        for (size_t k = 0; k < s->counts[i]; k++)
            check(at[k] == (unsigned char)(i + 10 * call));
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

static void learn_one(struct scene *s)
{
    bool learning, differed = false;
    unsigned open = 0;
    const dcoll_algorithm_t *before = allgather(s, 0, &learning), *after = NULL;
    check(learning);
    for (unsigned i = 1; i < CALLS; i++) {
        after = allgather(s, i, &learning);
        differed |= after != before;
        open += learning;
    }
    check(differed);
    check(open > 32 && open < CALLS - 20 && !learning);
    same_on_all_ranks(s->r, after);
}

static void learn_none(struct scene *s)
{
    bool learning;
    const dcoll_algorithm_t *before = allgather(s, 0, &learning);
    for (unsigned i = 1; i < CALLS; i++) {
        check(!learning);
        check(allgather(s, i, &learning) == before);
    }
}

static void learns(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, BYTES, true);
    learn_one(&s);
    check_latest(&s);
    scene_close(&s);
}

static void rank2_must_not(struct rank *r, size_t bytes)
{
    struct scene s;
    scene_open(&s, r, bytes, r->rank != 2);
    learn_none(&s);
    scene_close(&s);
}

static void one_must_not(struct rank *r)
{
    rank2_must_not(r, BYTES);
}

static void one_must_not_within(struct rank *r)
{
    rank2_must_not(r, LONG);
}

static void learn_if_readable(struct scene *s)
{
    if (ranks_are_readable(s->r))
        learn_one(s);
    else
        learn_none(s);
}

static void within_node(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, LONG, true);
    learn_if_readable(&s);
    scene_set(&s, LONG / 2, true); /* too short */
    learn_none(&s);
    scene_close(&s);
}

static void within_node_unequal(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, LONG, true);
    scene_set(&s, LONG, true);
    learn_if_readable(&s);
    scene_close(&s);
}

static dcoll_call_t nonblocking(struct scene *s)
{
    return (dcoll_call_t){.collective = DCOLL_ALLGATHER,
                          .send = s->send,
                          .recv = s->recv,
                          .bytes = s->counts[0]};
}

/* Makes a non-blocking call, and returns its algorithm. */
static const dcoll_algorithm_t *begun(struct scene *s)
{
    const dcoll_call_t call = nonblocking(s);
    dcoll_request_t *q;
    memset(s->send, (int)s->r->rank, call.bytes);
    team_good(s->r, s->team, dcoll_begin(s->team, &call, &q), "begin");
    const dcoll_algorithm_t *algorithm = dcoll_request_algorithm(q);
    team_good(s->r, s->team, dcoll_wait(q, -1), "wait");
    for (unsigned i = 0; i < RANKS; i++)
        for (size_t k = 0; k < call.bytes; k++)
            check(s->recv[i * call.bytes + k] == i);
    return algorithm;
}

/* Non-blocking calls take what blocking ones have learned. */
static void nonblocking_within_node(struct rank *r)
{
    struct scene s;
    bool learning;
    scene_open(&s, r, LONG, true);
    learn_if_readable(&s);
    const dcoll_algorithm_t *learned = allgather(&s, 0, &learning);
    for (unsigned i = 0; i < 6; i++)
        check(begun(&s) == learned);
    scene_close(&s);
}

/* Non-blocking calls that dcoll_prepare() has prepared keep their algorithm, so
 * none of them waits for ranks to prepare another one. */
static void prepared_within_node(struct rank *r)
{
    struct scene s;
    bool learning;
    scene_open(&s, r, LONG, true);
    const dcoll_call_t call = nonblocking(&s);
    const dcoll_algorithm_t *ruled = allgather(&s, 0, &learning);
    team_good(r, s.team, dcoll_prepare(s.team, &call), "prepare");
    for (unsigned i = 0; i < CALLS; i++)
        allgather(&s, i, &learning);
    for (unsigned i = 0; i < 6; i++) {
        team_good(r, s.team, dcoll_would_wait(s.team, &call), "would wait");
        check(begun(&s) == ruled);
    }
    scene_close(&s);
}

/* Other calls of the team are under way meanwhile, and other sizes are used. */
static void beside_others(struct rank *r)
{
    struct scene s;
    unsigned char mine = (unsigned char)r->rank, all[RANKS], more[2 * BYTES];
    bool learning;
    scene_open(&s, r, BYTES, true);
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
    {"within a node", RANKS, within_node, use_tcp, PPN(RANKS)},
    {"within a node, unequal blocks", RANKS, within_node_unequal, use_tcp,
     PPN(RANKS)},
    {"within a node, non-blocking", RANKS, nonblocking_within_node, use_tcp,
     PPN(RANKS)},
    {"within a node, prepared", RANKS, prepared_within_node, use_tcp,
     PPN(RANKS)},
    {"within a node, one rank must not learn", RANKS, one_must_not_within,
     use_tcp, PPN(RANKS)},
};

RUN_TESTS_OVER_TCP(tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective may take longer than the timeout as long as bytes move, also for
 * ranks to which none of them go yet. */
#include "coll/dcoll.h"

#include "conf.h"
#include "ranks.h"

#define TIMEOUT_MS 1500
#define LONG       ((size_t)64 << 20) /* 2.1 s over both rails, a part 0.5 s */

static const char rails[] =
    RAIL("slow0", "rate=16 latency=2") RAIL("slow1", "rate=16 latency=2");

/* Ranks from this one on must wait. */
static void play(struct rank *r, dcoll_call_t call, unsigned slow)
{
    dcoll_team_t *team;
    dcoll_request_t *q;
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    cfg.ports = 1;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &team, NULL));
    expect(r, 0, dcoll_init(team, &call, &q));
    barrier(r);
    double begin = seconds();
    expect(r, 0, dcoll_start(q));
    int rc = dcoll_wait(q, TIMEOUT_MS);
    if (rc)
        printf("# rank %u after %.1f s: %s\n", r->rank, seconds() - begin,
               dcoll_last_error(team));
    check(!rc);
    check(r->rank < slow || seconds() - begin > TIMEOUT_MS * 1e-3);
    expect(r, 0, dcoll_free(q));
    barrier(r);
    dcoll_team_free(team);
}

static void broadcast(struct rank *r, const char *algorithm, unsigned slow)
{
    unsigned char *block = malloc(LONG);
    check(block != NULL);
    memset(block, r->rank ? 1 : 7, LONG);
    play(r,
         (dcoll_call_t){.collective = DCOLL_BCAST,
                        .recv = block,
                        .bytes = LONG,
                        .algorithm = algorithm},
         slow);
    check(block[0] == 7 && block[LONG - 1] == 7);
    free(block);
}

static void pair(struct rank *r)
{
    broadcast(r, "binomial", 0);
}

/* Rank 3 waits for rank 2 of its node, which waits for the root. */
static void nodes(struct rank *r)
{
    broadcast(r, "smp-bcast", 2);
}

/* The root waits for rank 2, which waits for rank 3. */
static void tree(struct rank *r)
{
    unsigned blocks = r->rank ? 1 : 4;
    unsigned char *send = malloc((1 + blocks) * LONG), *recv = send + LONG;
    check(send != NULL);
    memset(send, (int)r->rank, LONG);
    memset(recv, 9, blocks * LONG);
    play(r,
         (dcoll_call_t){.collective = DCOLL_GATHER,
                        .send = send,
                        .recv = recv,
                        .bytes = LONG,
                        .algorithm = "binomial"},
         0);
    for (unsigned i = 0; r->rank == 0 && i < blocks; i++)
        check(recv[i * LONG] == i && recv[(i + 1) * LONG - 1] == i);
    free(send);
}

/* dcoll_wait(), or dcoll_test() until it is complete. */
static int finish(dcoll_request_t *q, bool polls)
{
    int rc = polls ? DRAIL_EAGAIN : dcoll_wait(q, -1);
    while (rc == DRAIL_EAGAIN)
        rc = dcoll_test(q);
    return rc;
}

/* Ranks 1 and 3 are done while rank 2, which polls, still sends to rank 0,
 * which waits. They wait until these come to the next call, which is prepared.
 */
static void next_call(struct rank *r)
{
    const size_t bytes = LONG / 2;
    unsigned char *send = malloc(5 * bytes);
    dcoll_call_t call = {.collective = DCOLL_GATHER,
                         .send = send,
                         .recv = send + bytes,
                         .algorithm = "binomial"};
    dcoll_config_t cfg;
    dcoll_team_t *team;
    dcoll_request_t *q;
    check(send != NULL);
    dcoll_config_init(&cfg);
    cfg.ports = 1;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &team, NULL));
    call.bytes = bytes;
    expect(r, 0, dcoll_init(team, &call, &q));
    barrier(r);
    double begin = seconds();
    expect(r, 0, dcoll_start(q));
    int rc = finish(q, r->rank == 2);
    double done = seconds() - begin;
    if (!rc)
        rc = dcoll_barrier(team);
    if (rc)
        printf("# rank %u after %.1f and %.1f s: %s\n", r->rank, done,
               seconds() - begin, dcoll_last_error(team));
    check(!rc);
    check(r->rank % 2 == 0 || seconds() - begin > done + TIMEOUT_MS * 1e-3);
    expect(r, 0, dcoll_free(q));
    barrier(r);
    dcoll_team_free(team);
    free(send);
}

static void slow(drail_config_t *cfg)
{
    use_rails(cfg, "slow0", "slow1");
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->policy = DRAIL_POLICY_EVEN;
}

static void slow_and_hasty(drail_config_t *cfg)
{
    slow(cfg);
    cfg->timeout_ms = TIMEOUT_MS;
}

static const struct test tests[] = {
    {"the next call", 4, next_call, slow_and_hasty, APART | PPN(2)},
    {"a rank after another", 4, tree, slow, APART | PPN(1)},
    {"two ranks", 2, pair, slow, APART | PPN(1)},
    {"nodes", 4, nodes, slow, APART | PPN(2)},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 3, tests)

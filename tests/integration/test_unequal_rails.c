/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks that use different rails at the same time: a waiter lets all
 * rails and all peers go on, or both would wait for each other.
 */
#include "dapl_rail/batch.h"

#include "conf.h"
#include "memory.h"

#define BYTES (256u << 10)

static const char rails[] =
    RAIL("fast0", "rate=270 latency=2") RAIL("fast1", "rate=270 latency=2")
        RAIL("slow", "rate=20 latency=2") RAIL("far", "rate=270 latency=1000");

/* Both learn at the same time which rails are worth it, each for itself. */
static void both_ways(struct rank *r)
{
    static const size_t sizes[] = {16 << 10, 64 << 10, 256 << 10};
    struct memory m;
    memory_open(r, &m, BYTES);
    for (unsigned n = 0; n < 90; n++) {
        drail_batch_t b = {.xfer = memory_xfer(r, &m, sizes[n / 10 % 3]),
                           .count = n % 5,
                           .id = n,
                           .await_reply = true};
        expect(r, 0, drail_batch(r->t, r->peer, &b));
        check(b.reply_id == n);
    }
    memory_close(r, &m);
}

static void one_way(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, BYTES);
    for (unsigned n = 0; n < 200; n++) {
        drail_batch_t b = {.xfer = memory_xfer(r, &m, 32 << 10),
                           .count = 4,
                           .id = n,
                           .await_reply = true};
        if (r->rank == 0)
            expect(r, 0, drail_batch(r->t, 1, &b));
        else
            expect(r, 0, drail_batch_answer(r->t, 0, true, n, NULL));
    }
    memory_close(r, &m);
}

/* Each fills a rail of its own, first with messages, then with writes. */
static void fill(struct rank *r)
{
    enum { MESSAGES = 30, WRITES = 600 };
    unsigned char message[4000] = {0};
    struct memory m;
    memory_open(r, &m, BYTES);
    expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_FIXED, NULL, r->rank));
    for (unsigned round = 0; round < 3; round++) {
        drail_xfer_t x = memory_xfer(r, &m, 64);
        barrier(r);
        for (unsigned i = 0; i < MESSAGES; i++)
            expect(r, 0,
                   drail_send(r->t, r->peer, message, sizeof message, NULL));
        for (unsigned i = 0; i < WRITES; i++)
            expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, NULL));
        for (unsigned i = 0; i < MESSAGES; i++)
            expect(
                r, 0,
                drail_recv(r->t, r->peer, message, sizeof message, NULL, -1));
        expect(r, 0, drail_fence(r->t, r->peer));
    }
    memory_close(r, &m);
}

/* Credits fall due while the queue is full: all writes end, each with its own
 * bytes, and their requests end with them. */
static void full_queue(struct rank *r)
{
    enum { N = 200, PART = 1024 };
    static drail_req_t reqs[N];
    struct memory m;
    unsigned message = 0;
    memory_open(r, &m, BYTES);
    expect(r, 0, drail_set_policy(r->t, DRAIL_POLICY_FIXED, NULL, 0));
    for (unsigned i = 0; i < N && r->rank == 0; i++) {
        drail_xfer_t x = memory_xfer(r, &m, PART);
        x.local = m.bytes + i * PART;
        x.remote_offset = i * PART;
        memset(x.local, (int)i, PART);
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, &reqs[i]));
        for (unsigned k = 0; k < 2; k++) {
            int rc = drail_recv(r->t, 1, &message, 4, NULL, 0);
            check(rc == 0 || rc == DRAIL_EAGAIN);
        }
    }
    for (unsigned i = 0; i < N && r->rank == 0; i++)
        expect(r, 0, drail_wait(r->t, &reqs[i], -1));
    if (r->rank == 0) { /* the last message says so */
        expect(r, 0, drail_notify(r->t, 1, 0, 0));
        while (message != N)
            expect(r, 0, drail_recv(r->t, 1, &message, 4, NULL, -1));
    } else {
        while (drail_notify_wait(r->t, 0, NULL, 0) == DRAIL_EAGAIN)
            expect(r, 0, drail_send(r->t, 0, &message, 4, NULL));
        message = N;
        expect(r, 0, drail_send(r->t, 0, &message, 4, NULL));
        for (unsigned i = 0; i < N * PART; i++)
            check(m.bytes[i] == (unsigned char)(i / PART));
    }
    memory_close(r, &m);
}

static void two(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->timeout_ms = 4000;
}

static void three(drail_config_t *cfg, drail_engine_t engine, drail_team_t team)
{
    use_rails(cfg, "fast0", "fast1", "far");
    cfg->policy = DRAIL_POLICY_ADAPTIVE;
    cfg->timeout_ms = 4000;
    cfg->engine = engine;
    cfg->team = team;
}

static void three_threaded(drail_config_t *cfg)
{
    three(cfg, DRAIL_ENGINE_THREADED, DRAIL_TEAM_RESIDENT);
}

static void three_forked(drail_config_t *cfg)
{
    three(cfg, DRAIL_ENGINE_THREADED, DRAIL_TEAM_FORKJOIN);
}

static void three_unthreaded(drail_config_t *cfg)
{
    three(cfg, DRAIL_ENGINE_NONTHREADED, DRAIL_TEAM_RESIDENT);
}

static void two_threaded(drail_config_t *cfg)
{
    two(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void shallow(drail_config_t *cfg)
{
    two(cfg);
    cfg->rails[0] = "slow";
    cfg->rails[1] = "fast0";
    cfg->depth = 4;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

/* not a power of two */
static void shallow_threaded(drail_config_t *cfg)
{
    shallow(cfg);
    cfg->depth = 5;
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"both ways, threaded", 2, both_ways, three_threaded, 0},
    {"both ways, forked", 2, both_ways, three_forked, 0},
    {"both ways", 2, both_ways, three_unthreaded, 0},
    {"one way, threaded", 2, one_way, three_threaded, 0},
    {"each fills its own", 2, fill, two, 0},
    {"each fills its own, threaded", 2, fill, two_threaded, 0},
    {"full queue", 2, full_queue, shallow, 0},
    {"full queue, threaded", 2, full_queue, shallow_threaded, 0},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 1, tests)

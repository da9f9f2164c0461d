/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications by a send after the data, or by the immediate data of the last
 * RDMA write: the target sees no difference, the initiator posts fewer sends.
 */
#include "dapl_rail/batch.h"

#include "memory.h"
#include "ranks.h"

#define CAPACITY (1u << 20)

static uint64_t sends(struct rank *r)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < drail_nrails(r->t); i++) {
        drail_rail_stats_t s;
        drail_rail_stats(r->t, i, &s);
        sum += s.sends;
    }
    return sum;
}

static const drail_notify_by_t ways[] = {
    DRAIL_NOTIFY_BY_IMMED, DRAIL_NOTIFY_BY_SEND, DRAIL_NOTIFY_BY_AUTO};

/* Ids that fit, the largest and smallest that may not, and any. */
static uint32_t id_of(struct rank *r, unsigned n)
{
    return n % 3 ? n : n % 2 ? (uint32_t)rnd(r) : 1u << (n / 3 % 32);
}

/* Rank 0 writes, rank 1 compares; both draw the same ids and lengths. */
static void puts_one_way(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    r->rng = 1;
    for (unsigned n = 0; n < 600; n++) {
        size_t bytes = (size_t)1 << rnd(r) % 21;
        uint32_t id = id_of(r, n), got;
        bytes -= rnd(r) % bytes;
        expect(r, 0, drail_set_notify_by(r->t, ways[n % 3]));
        if (r->rank == 0) {
            drail_req_t req;
            drail_xfer_t x = memory_xfer(r, &m, bytes);
            m.bytes[0] = m.bytes[bytes / 2] = m.bytes[bytes - 1] =
                (unsigned char)n;
            unsigned flags =
                n % 5 ? DRAIL_NOTIFY : DRAIL_NOTIFY | DRAIL_ALL_RAILS;
            expect(r, 0, drail_put(r->t, 1, &x, flags, id, &req));
            expect(r, 0, drail_wait(r->t, &req, -1));
            expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
        } else {
            expect(r, 0, drail_notify_wait(r->t, 0, &got, -1));
            check(got == id);
            check(m.bytes[0] == (unsigned char)n &&
                  m.bytes[bytes / 2] == (unsigned char)n &&
                  m.bytes[bytes - 1] == (unsigned char)n);
            expect(r, 0, drail_notify(r->t, 0, 0, n));
        }
    }
    memory_close(r, &m);
}

/* Many under way, in order, with fewer sends than notifications. */
static void streams(struct rank *r)
{
    enum { N = 500 };
    struct memory m;
    memory_open(r, &m, CAPACITY);
    drail_xfer_t x = memory_xfer(r, &m, 64);
    for (unsigned w = 0; w < 2; w++) {
        expect(r, 0, drail_set_notify_by(r->t, ways[w]));
        uint64_t before = sends(r);
        for (unsigned n = 0, got = 0; n < N || got < N;) {
            uint32_t id;
            if (n < N && drail_put(r->t, r->peer, &x,
                                   DRAIL_NOTIFY | DRAIL_NOWAIT, n, NULL) == 0)
                n++;
            int rc = drail_notify_wait(r->t, r->peer, &id, 0);
            check(rc == DRAIL_EAGAIN || (rc == 0 && id == got));
            got += !rc;
        }
        if (ways[w] == DRAIL_NOTIFY_BY_SEND)
            check(sends(r) - before >= N);
        else
            check(sends(r) - before < N);
        expect(r, 0, drail_fence(r->t, r->peer));
        barrier(r);
    }
    memory_close(r, &m);
}

static void batches(struct rank *r)
{
    static const size_t sizes[] = {0, 8, 100, 4096, 40000};
    struct memory m;
    memory_open(r, &m, CAPACITY);
    for (unsigned n = 0; n < 500; n++) {
        drail_batch_t b = {.xfer = memory_xfer(r, &m, sizes[n / 4 % 5]),
                           .count = n % 4 * 7,
                           .id = n % 9 ? n : n << 24,
                           .await_reply = n % 3};
        uint32_t id;
        expect(r, 0,
               drail_set_engine(r->t, (drail_engine_t)(n / 11 % 3),
                                DRAIL_TEAM_RESIDENT));
        expect(r, 0,
               drail_set_policy(r->t, (drail_policy_t)(n / 33 % 5), NULL, 0));
        expect(r, 0, drail_set_notify_by(r->t, ways[n / 7 % 2]));
        if (r->rank == 0) {
            memset(m.bytes, (int)n, b.xfer.bytes);
            expect(r, 0, drail_batch(r->t, 1, &b));
            check(!b.await_reply || b.reply_id == ~n);
            barrier(r);
            continue;
        }
        expect(r, 0, drail_batch_answer(r->t, 0, b.await_reply, ~n, &id));
        check(id == b.id);
        for (size_t i = 0; b.count && i < b.xfer.bytes; i++)
            check(m.bytes[i] == (unsigned char)n);
        barrier(r);
    }
    memory_close(r, &m);
}

static void refused(struct rank *r)
{
    expect(r, DRAIL_ENOTSUP, drail_set_notify_by(r->t, DRAIL_NOTIFY_BY_IMMED));
    check(strstr(drail_last_error(r->t), "DRAIL_EXTENSIONS") != NULL);
    expect(r, DRAIL_EINVAL, drail_set_notify_by(r->t, (drail_notify_by_t)3));
    expect(r, 0, drail_set_notify_by(r->t, DRAIL_NOTIFY_BY_AUTO));
    expect(r, 0, drail_notify(r->t, r->peer, 0, 1));
    expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
}

static void striped(drail_config_t *cfg)
{
    cfg->stripe_threshold = 0;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void shallow(drail_config_t *cfg)
{
    striped(cfg);
    cfg->depth = 5;
}

static void deep(drail_config_t *cfg)
{
    cfg->nrails = 1;
    cfg->depth = 1000;
}

static void threaded(drail_config_t *cfg)
{
    take_rails(cfg, 3);
    cfg->stripe_threshold = 256;
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void spread(drail_config_t *cfg)
{
    shallow(cfg);
    cfg->eps = 3;
}

static void spread_threaded(drail_config_t *cfg)
{
    threaded(cfg);
    cfg->eps = 2;
}

static void spread_wide(drail_config_t *cfg)
{
    cfg->nrails = 1;
    cfg->eps = DRAIL_MAX_EPS;
    cfg->stripe_threshold = 64;
}

static void spread_auto(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_AUTO;
    cfg->eps = 2;
    cfg->stripe_threshold = 256;
}

static void no_extensions(drail_config_t *cfg)
{
    setenv("DRAIL_EXTENSIONS", "0", 1);
}

static const struct test tests[] = {
    {"puts", 2, puts_one_way, NULL, 0},
    {"puts, striped, shallow", 2, puts_one_way, shallow, 0},
    {"puts, threaded", 2, puts_one_way, threaded, 0},
    {"streams", 2, streams, NULL, 0},
    {"streams, striped, shallow", 2, streams, shallow, 0},
    {"streams, deep", 2, streams, deep, 0},
    {"batches", 2, batches, NULL, 0},
    {"batches, striped, shallow", 2, batches, shallow, 0},
    {"batches, threaded", 2, batches, threaded, 0},
    {"puts, 3 EPs", 2, puts_one_way, spread, 0},
    {"puts, 2 EPs, threaded", 2, puts_one_way, spread_threaded, 0},
    {"puts, 8 EPs", 2, puts_one_way, spread_wide, 0},
    {"puts, 2 EPs, auto", 2, puts_one_way, spread_auto, 0},
    {"streams, 3 EPs", 2, streams, spread, 0},
    {"streams, 8 EPs", 2, streams, spread_wide, 0},
    {"batches, 3 EPs", 2, batches, spread, 0},
    {"batches, 2 EPs, threaded", 2, batches, spread_threaded, 0},
    {"batches, 8 EPs", 2, batches, spread_wide, 0},
    {"not offered", 2, refused, no_extensions, 0},
};

RUN_TESTS(tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails that can do little in one RDMA: what is longer takes several DTOs,
 * more than a short queue holds. Stands in for the provider at its own calls.
 */
#include "dapl_rail/batch.h"

#include "memory.h"
#include "no_direct.h"
#include "rdma_limit.h"

#define MOST     1000u
#define EPS      3u /* for each of two rails */
#define HALF     (64u << 10)
#define CAPACITY (2 * HALF)

static DAT_SEG_LENGTH rdma_limit = MOST;
static _Atomic unsigned several; /* RDMA writes of as much as can be done */
static _Atomic uint64_t written; /* bytes, but those with immediate data */

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *local,
                                           DAT_DTO_COOKIE cookie,
                                           const DAT_RMR_TRIPLET *remote,
                                           DAT_COMPLETION_FLAGS flags)
{
    check(local->segment_length <= MOST);
    check(local->segment_length == remote->segment_length);
    several += local->segment_length == MOST;
    written += local->segment_length;
    return real(dat_ep_post_rdma_write)(ep, n, local, cookie, remote, flags);
}

static const size_t lengths[] = {8,        MOST - 1,     MOST, MOST + 1,
                                 2 * MOST, 3 * MOST + 7, HALF};
#define LENGTHS (sizeof lengths / sizeof lengths[0])

static unsigned char byte_of(size_t at, unsigned turn, unsigned rank)
{
    return (unsigned char)(at * 7 + at / 251 + turn * 31 + rank);
}

static void fill(struct rank *r, struct memory *m, size_t bytes, unsigned turn)
{
    for (size_t i = 0; i < bytes; i++)
        m->bytes[i] = byte_of(i, turn, r->rank);
    memset(m->bytes + HALF, 0, HALF);
    barrier(r);
}

/* The peer's first half is here, in the second half, and no more. */
static void verify(struct rank *r, const struct memory *m, size_t bytes,
                   unsigned turn)
{
    for (size_t i = 0; i < HALF; i++)
        check(m->bytes[HALF + i] ==
              (i < bytes ? byte_of(i, turn, r->peer) : 0));
    barrier(r);
}

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static drail_xfer_t upward(struct rank *r, struct memory *m, size_t bytes)
{
    drail_xfer_t x = memory_xfer(r, m, bytes);
    x.remote_offset = HALF;
    return x;
}

/* The writes of a batch are posted again: all of them are of all the bytes. */
static void run_batches(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    for (unsigned turn = 0; turn < 2 * LENGTHS; turn++) {
        size_t bytes = lengths[turn % LENGTHS];
        drail_rail_stats_t before[2], after;
        drail_batch_t b = {.xfer = upward(r, &m, bytes),
                           .count = 3,
                           .await_reply = true,
                           .account = turn % 2};
        fill(r, &m, bytes, turn);
        written = 0;
        for (unsigned i = 0; i < drail_nrails(r->t); i++)
            drail_rail_stats(r->t, i, &before[i]);
        uint64_t start = now_ns();
        expect(r, 0, drail_batch(r->t, r->peer, &b));
        uint64_t elapsed = now_ns() - start;
        verify(r, &m, bytes, turn);
        uint64_t put = 0, accounted = 0;
        for (unsigned i = 0; i < drail_nrails(r->t); i++) {
            drail_rail_stats(r->t, i, &after);
            put += after.put_bytes - before[i].put_bytes;
            accounted += b.per_rail[i].bytes;
            /* what is posted again after a wait for room counts once */
            check(b.per_rail[i].post_ns + b.per_rail[i].wait_ns <= elapsed);
        }
        check(put == 3 * bytes);
        check(written <= put && put <= written + 2 * EPS * MOST);
        check(accounted == (turn % 2 ? put : 0));
    }
    check(several > 0);
    memory_close(r, &m);
}

static void run_puts(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    for (unsigned turn = 0; turn < LENGTHS; turn++) {
        drail_xfer_t x = upward(r, &m, lengths[turn]);
        drail_req_t req;
        fill(r, &m, x.bytes, turn);
        expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, turn, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
        verify(r, &m, x.bytes, turn);
    }
    check(several > 0);
    memory_close(r, &m);
}

static void run_gets(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    for (unsigned turn = 0; turn < LENGTHS; turn++) {
        drail_req_t req;
        drail_xfer_t x = memory_xfer(r, &m, lengths[turn]);
        x.local = m.bytes + HALF;
        fill(r, &m, x.bytes, turn);
        expect(r, 0, drail_get(r->t, r->peer, &x, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        verify(r, &m, x.bytes, turn);
    }
    memory_close(r, &m);
}

/* The notification is not signalled: its place in the queue comes back with
 * what follows it, so that a rank that asks for more must not wait for that. */
static void get_after_notification(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, CAPACITY);
    drail_xfer_t x = memory_xfer(r, &m, 31 * (size_t)MOST);
    if (r->rank == 0) {
        expect(r, 0, drail_notify(r->t, 1, 0, 1));
        double end = seconds() + 10;
        int rc;
        do
            rc = drail_get(r->t, 1, &x, DRAIL_NOWAIT, NULL);
        while (rc == DRAIL_EAGAIN && seconds() < end);
        expect(r, 0, rc);
    } else {
        expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
    }
    memory_close(r, &m);
}

/* A queue of 16 DTOs: HALF takes four times as many. */
static void shallow_one_rail(drail_config_t *cfg)
{
    cfg->nrails = 1;
    cfg->depth = 4;
    cfg->engine = DRAIL_ENGINE_SINGLE;
}

static void of_32(drail_config_t *cfg)
{
    shallow_one_rail(cfg);
    cfg->depth = 8;
}

static void by_send(drail_config_t *cfg)
{
    shallow_one_rail(cfg);
    cfg->notify_by = DRAIL_NOTIFY_BY_SEND;
}

static void shallow(drail_config_t *cfg)
{
    cfg->depth = 4;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->stripe_threshold = 0;
}

static void threaded(drail_config_t *cfg)
{
    shallow(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void eps(drail_config_t *cfg)
{
    shallow(cfg);
    cfg->eps = EPS;
}

static void turns(drail_config_t *cfg)
{
    shallow(cfg);
    cfg->policy = DRAIL_POLICY_ROUNDROBIN;
}

static const struct test tests[] = {
    {"batches, one rail", 2, run_batches, shallow_one_rail, 0},
    {"batches, one rail, notified by sends", 2, run_batches, by_send, 0},
    {"batches, nonthreaded", 2, run_batches, shallow, 0},
    {"batches, threaded", 2, run_batches, threaded, 0},
    {"batches, several EPs", 2, run_batches, eps, 0},
    {"batches, rail by rail", 2, run_batches, turns, 0},
    {"puts, one rail", 2, run_puts, shallow_one_rail, 0},
    {"puts, threaded", 2, run_puts, threaded, 0},
    {"puts, several EPs", 2, run_puts, eps, 0},
    {"gets, one rail", 2, run_gets, shallow_one_rail, 0},
    {"gets, several EPs", 2, run_gets, eps, 0},
    {"a get after a notification", 2, get_after_notification, of_32, 0},
};

RUN_TESTS(tests)

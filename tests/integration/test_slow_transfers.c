/* SPDX-License-Identifier: BSD-3-Clause */
/* A transfer longer than the timeout is no failure as long as bytes move. If
 * they stop, it fails as soon as before. */
#include "conf.h"
#include "memory.h"

#define TIMEOUT_MS 900
#define EACH       (40u << 20) /* bytes of a rail: 1.3 s, a part 0.3 s */

static const char rails[] =
    RAIL("slow0", "rate=32 latency=2") RAIL("slow1", "rate=32 latency=2");

static size_t length;
static double begin;

static void took_long(void)
{
    check(seconds() - begin > TIMEOUT_MS * 1e-3);
}

static void open_long(struct rank *r, struct memory *m)
{
    length = (size_t)drail_nrails(r->t) * EACH;
    memory_open(r, m, length);
}

/* Rank 0 acts, rank 1 lets it. */
static void put_and_wait(struct rank *r, const struct memory *m)
{
    if (r->rank == 0)
        memory_put(r, m, length);
}

static void put_and_fence(struct rank *r, const struct memory *m)
{
    drail_xfer_t x = memory_xfer(r, m, length);
    if (r->rank)
        return;
    expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, NULL));
    expect(r, 0, drail_fence(r->t, r->peer));
}

static void get_and_wait(struct rank *r, const struct memory *m)
{
    if (r->rank == 0)
        memory_get(r, m, length);
}

static void send_and_receive(struct rank *r, const struct memory *m)
{
    size_t got;
    if (r->rank == 0) {
        memset(m->bytes, 7, length);
        expect(r, 0, drail_send(r->t, 1, m->bytes, length, m->mem));
        return;
    }
    m->bytes[length - 1] = 0;
    expect(r, 0, drail_recv(r->t, 0, m->bytes, length, &got, -1));
    check(got == length && m->bytes[length - 1] == 7);
}

/* The receiver of the notification hears of parts of the put. */
static void put_and_notify(struct rank *r, const struct memory *m)
{
    drail_xfer_t x = memory_xfer(r, m, length);
    drail_req_t req;
    if (r->rank) {
        expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
        took_long();
        return;
    }
    expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, 0, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
}

static void in_turn(struct rank *r)
{
    static void (*const acts[])(struct rank *, const struct memory *) = {
        put_and_wait, put_and_fence, get_and_wait, send_and_receive,
        put_and_notify};
    struct memory m;
    open_long(r, &m);
    memset(m.bytes, 1, length); /* its pages are there from then on */
    for (unsigned i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        barrier(r);
        begin = seconds();
        acts[i](r, &m);
        if (r->rank == 0)
            took_long();
    }
    memory_close(r, &m);
}

/* The time that the caller gives is its own. */
static void callers_time(struct rank *r)
{
    struct memory m;
    open_long(r, &m);
    if (r->rank == 0) {
        drail_req_t req;
        drail_xfer_t x = memory_xfer(r, &m, length);
        memory_put(r, &m, length); /* its pages are there from then on */
        expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, &req));
        expect(r, DRAIL_ETIMEOUT, drail_wait(r->t, &req, 100));
        expect(r, 0, drail_wait(r->t, &req, -1));
    }
    memory_close(r, &m);
}

/* Nothing comes: a wait ends in its time, and so does the sender's of a
 * message of which nothing is read. */
static void nothing_goes_on(struct rank *r)
{
    struct memory m;
    open_long(r, &m);
    if (r->rank == 0) {
        begin = seconds();
        expect(r, DRAIL_ETIMEOUT, drail_send(r->t, 1, m.bytes, length, NULL));
        check(seconds() - begin < 3 * TIMEOUT_MS * 1e-3);
    }
    barrier_outside(r);
    memory_close(r, &m);
}

/* The receiver begins to read, and stops. */
static void reader_stops(struct rank *r)
{
    struct memory m;
    open_long(r, &m);
    begin = seconds();
    if (r->rank == 0) {
        int rc = drail_send(r->t, 1, m.bytes, length, NULL);
        check(rc == DRAIL_ETIMEOUT || rc == DRAIL_EPEER);
        check(seconds() - begin < 5);
    } else {
        while (seconds() - begin < 0.5)
            check(drail_recv(r->t, 0, m.bytes, length, NULL, 0) < 0);
    }
    barrier_outside(r);
    memory_close(r, &m);
}

static void slow(drail_config_t *cfg)
{
    use_rails(cfg, "slow0", "slow1");
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->policy = DRAIL_POLICY_EVEN;
    cfg->timeout_ms = TIMEOUT_MS;
}

static void threaded(drail_config_t *cfg)
{
    slow(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void slow_one_rail(drail_config_t *cfg)
{
    slow(cfg);
    cfg->nrails = 1;
}

static const struct test tests[] = {
    {"one thread", 2, in_turn, slow, 0},
    {"threads", 2, in_turn, threaded, 0},
    {"one rail", 2, in_turn, slow_one_rail, 0},
    {"the caller's time", 2, callers_time, slow, 0},
    {"nothing goes on", 2, nothing_goes_on, slow, 0},
    {"the reader stops", 2, reader_stops, slow, 0},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 3, tests)

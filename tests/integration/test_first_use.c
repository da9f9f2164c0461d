/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nobody calls drail_connect: the first operation connects, whichever rank
 * makes it, and whatever call of ours the other one is in.
 */
#include "dapl_rail/batch.h"

#include "conf.h"
#include "memory.h"

/* Of this program alone, so that no other takes the place of a rank that left.
 */
static const char rails[] = RAIL("first-use0", "") RAIL("first-use1", "");

/* Each side in each role: ranks 0 and 1 are the lower and the higher. */
static void serve(struct rank *r, unsigned peer)
{
    expect(r, 0, drail_notify_wait(r->t, peer, NULL, -1));
}

static void release(struct rank *r, unsigned peer)
{
    expect(r, 0, drail_notify(r->t, peer, 0, 0));
}

static void reopen(struct rank *r)
{
    drail_config_t cfg = *drail_config_of(r->t);
    drail_error_t err = {0};
    char names[DRAIL_MAX_RAILS][DRAIL_NAME_MAX];
    for (unsigned i = 0; i < cfg.nrails; i++)
        cfg.rails[i] = strcpy(names[i], cfg.rails[i]);
    barrier(r);
    drail_close(r->t);
    if (drail_open(r->job, &cfg, &r->t, &err))
        printf("# rank %u: drail_open: %s\n", r->rank, err.text);
    check(err.code == 0);
}

static void use_put(struct rank *r, struct memory *m)
{
    m->bytes[0] = 7;
    memory_put(r, m, 1);
}

static void use_get(struct rank *r, struct memory *m)
{
    memory_get(r, m, 1);
}

static void use_atomic(struct rank *r, struct memory *m)
{
    uint64_t old;
    expect(r, 0,
           drail_atomic(r->t, r->peer, DRAIL_FETCH_ADD, &m->keys[r->peer], 0, 3,
                        0, &old));
}

static void use_send(struct rank *r, struct memory *m)
{
    expect(r, 0, drail_send(r->t, r->peer, m->bytes, 100, NULL));
}

static void use_batch(struct rank *r, struct memory *m)
{
    drail_batch_t b = {.xfer = memory_xfer(r, m, 64), .count = 3};
    expect(r, 0, drail_batch(r->t, r->peer, &b));
}

/* The user begins, the other one waits for what only comes afterwards. */
static void each_operation(struct rank *r)
{
    static void (*const uses[])(struct rank * r, struct memory * m) = {
        use_put, use_get, use_atomic, use_send, use_batch};
    for (unsigned n = 0; n < 2 * sizeof uses / sizeof uses[0]; n++) {
        struct memory m;
        memory_open(r, &m, 4096);
        if (r->rank == n % 2) {
            uses[n / 2](r, &m);
            if (uses[n / 2] != use_batch)
                release(r, r->peer);
        } else {
            serve(r, r->peer);
        }
        barrier(r);
        if (uses[n / 2] == use_send && r->rank != n % 2)
            expect(r, 0, drail_recv(r->t, r->peer, m.bytes, 4096, NULL, -1));
        memory_close(r, &m);
        reopen(r);
    }
}

/* The receiver begins; the sender comes much later. */
static void receiver_first(struct rank *r)
{
    char text[8] = "";
    for (unsigned n = 0; n < 2; n++) {
        if (r->rank == n) {
            expect(r, 0,
                   drail_recv(r->t, r->peer, text, sizeof text, NULL, -1));
            check(!strcmp(text, "hello"));
        } else {
            nap(50);
            expect(r, 0, drail_send(r->t, r->peer, "hello", 6, NULL));
        }
        reopen(r);
    }
}

/* Both begin at once. */
static void crossing(struct rank *r)
{
    for (unsigned n = 0; n < 10; n++) {
        uint32_t id;
        barrier(r);
        expect(r, 0, drail_notify(r->t, r->peer, 0, n));
        expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
        check(id == n);
        reopen(r);
    }
}

/* The other one waits for somebody else. */
static void in_any_wait(struct rank *r)
{
    uint32_t id;
    switch (r->rank) {
    case 0:
        serve(r, 1);
        expect(r, 0, drail_notify_wait(r->t, 2, &id, 0));
        check(id == 5);
        break;
    case 1:
        serve(r, 2);
        release(r, 0);
        break;
    case 2:
        expect(r, 0, drail_notify(r->t, 0, 0, 5));
        release(r, 1);
        break;
    }
}

/* … and never sleeps. */
static void between_answers(struct rank *r)
{
    uint32_t id = 0;
    if (r->rank == 2) {
        release(r, 0);
        return;
    }
    for (bool more = true; more;) {
        if (r->rank == 0)
            more = drail_notify_wait(r->t, 2, NULL, 0) != 0;
        if (r->rank == 0)
            expect(r, 0, drail_notify(r->t, 1, 0, more));
        expect(r, 0, drail_notify_wait(r->t, 1 - r->rank, &id, -1));
        if (r->rank == 1)
            expect(r, 0, drail_notify(r->t, 0, 0, more = id));
    }
}

/* Calls that don't wait don't, and get there all the same. */
static void without_waiting(struct rank *r)
{
    for (unsigned n = 0; n < 2; n++) {
        struct memory m;
        memory_open(r, &m, 4096);
        drail_xfer_t x = memory_xfer(r, &m, 8);
        int rc = DRAIL_EAGAIN;
        for (double end = seconds() + 20; rc == DRAIL_EAGAIN;) {
            check(seconds() < end);
            rc = r->rank == n ? drail_put(r->t, r->peer, &x,
                                          DRAIL_NOTIFY | DRAIL_NOWAIT, 0, NULL)
                              : drail_notify_wait(r->t, r->peer, NULL, 0);
        }
        expect(r, 0, rc);
        memory_close(r, &m);
        reopen(r);
    }
}

/* All to all, each in an order of its own. */
static void everybody(struct rank *r)
{
    uint32_t id;
    for (unsigned n = 1; n < r->size; n++) {
        unsigned to = (r->rank + (r->rank % 2 ? n : r->size - n)) % r->size;
        expect(r, 0, drail_notify(r->t, to, 0, r->rank));
    }
    for (unsigned p = 0; p < r->size; p++) {
        if (p == r->rank)
            continue;
        expect(r, 0, drail_notify_wait(r->t, p, &id, -1));
        check(id == p);
    }
}

/* Nobody there: the time of connecting, and then it can be tried again. */
static void nobody_answers(struct rank *r)
{
    for (unsigned n = 0; n < 2; n++) {
        if (r->rank == n) {
            expect(r, DRAIL_ETIMEOUT, drail_notify(r->t, r->peer, 0, 1));
            check(strstr(drail_last_error(r->t), "drail_connect"));
        }
        barrier_outside(r);
        if (r->rank == n)
            release(r, r->peer);
        else
            serve(r, r->peer);
        reopen(r);
    }
}

static void own_rails(drail_config_t *cfg)
{
    use_rails(cfg, "first-use0", "first-use1");
}

/* A peer that has left is told apart from one that is slow. */
static void peer_has_left(struct rank *r)
{
    for (unsigned n = 0; n < 2; n++) {
        drail_t *before = r->t;
        if (r->rank != n)
            drail_close(before);
        barrier(r);
        if (r->rank == n) {
            expect(r, DRAIL_EPEER, drail_notify(r->t, r->peer, 0, 1));
            check(
                strstr(drail_last_error(r->t), r->rank ? "rank 0" : "rank 1"));
            drail_close(before);
        }
        drail_config_t cfg;
        drail_config_init(&cfg);
        own_rails(&cfg);
        check(drail_open(r->job, &cfg, &r->t, NULL) == 0);
    }
}

/* … also by calls that don't wait. */
static void left_without_waiting(struct rank *r)
{
    if (r->rank) {
        drail_close(r->t);
        r->t = NULL;
    }
    barrier(r);
    if (r->rank)
        return;
    int rc = DRAIL_EAGAIN;
    for (double end = seconds() + 20; rc == DRAIL_EAGAIN;) {
        check(seconds() < end);
        rc = drail_notify(r->t, r->peer, DRAIL_NOWAIT, 0);
    }
    expect(r, DRAIL_EPEER, rc);
}

static void nothing_to_do(struct rank *r)
{
    expect(r, 0, drail_fence(r->t, r->peer));
    expect(r, DRAIL_EINVAL, drail_notify(r->t, r->rank, 0, 0));
    expect(r, DRAIL_EINVAL, drail_notify(r->t, r->size, 0, 0));
    expect(r, DRAIL_EINVAL, drail_fence(r->t, r->rank));
}

static void impatient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 200;
}

static void restless(drail_config_t *cfg)
{
    setenv("DRAIL_SPIN_US", "1000000", 1);
}

static void two_eps(drail_config_t *cfg)
{
    cfg->eps = 2;
}

static const struct test tests[] = {
    {"each operation", 2, each_operation, NULL, APART},
    {"receiver first", 2, receiver_first, NULL, APART},
    {"crossing", 2, crossing, two_eps, APART},
    {"in any wait", 3, in_any_wait, one_rail, APART},
    {"between answers", 3, between_answers, restless, APART},
    {"without waiting", 2, without_waiting, NULL, APART},
    {"everybody", 6, everybody, NULL, APART},
    {"nobody answers", 2, nobody_answers, impatient, APART},
    {"the peer has left", 2, peer_has_left, own_rails, APART},
    {"left without waiting", 2, left_without_waiting, own_rails, APART},
    {"nothing to do", 2, nothing_to_do, NULL, APART},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 1, tests)

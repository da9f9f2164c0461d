/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With its queues full of slow reads, a call that may not wait does not wait
 * for room: a drail_recv without time begins to read, and the next one goes on.
 */
#include "dapl_rail/batch.h"

#include "conf.h"
#include "memory.h"

#define LONG     (4u << 20)
#define DEPTH    4u
#define REQUESTS (4 * DEPTH) /* per EP */
#define MESSAGE  (1u << 16)

static const char rails[] =
    RAIL("slow0", "rate=4 latency=2") RAIL("slow1", "rate=4 latency=2");

static void end(struct rank *r, struct memory *m)
{
    if (r->rank == 1)
        expect(r, 0, drail_fence(r->t, 0));
    memory_close(r, m);
}

/* There is room again only when the first read, the long one, is complete. */
static void fill(struct rank *r, struct memory *m, drail_req_t *first)
{
    drail_xfer_t x = memory_xfer(r, m, LONG);
    expect(r, 0, drail_get(r->t, 0, &x, 0, first));
    x.bytes = 1024;
    for (unsigned n = 1; n < REQUESTS; n++)
        expect(r, 0, drail_get(r->t, 0, &x, 0, NULL));
}

static uint64_t arrived(const struct rank *r)
{
    return rail_stats(r, 0).recvs;
}

static void receive(struct rank *r)
{
    struct memory m;
    unsigned char *buffer = calloc(1, MESSAGE);
    check(buffer != NULL);
    memory_open(r, &m, LONG);
    if (r->rank == 0) {
        memset(buffer, 7, MESSAGE);
        expect(r, 0, drail_send(r->t, 1, buffer, MESSAGE, NULL));
    } else {
        drail_req_t first;
        int rc;
        while (!arrived(r)) /* later, it would come behind the long read */
            expect(r, 0, drail_progress(r->t));
        fill(r, &m, &first);
        for (unsigned n = 0; n < 3; n++)
            expect(r, DRAIL_EAGAIN,
                   drail_recv(r->t, 0, buffer, MESSAGE, NULL, 0));
        expect(r, DRAIL_EAGAIN, drail_test(r->t, &first));
        while ((rc = drail_recv(r->t, 0, buffer, MESSAGE, NULL, 20)) ==
               DRAIL_ETIMEOUT)
            ;
        expect(r, 0, rc);
        check(buffer[0] == 7 && buffer[MESSAGE - 1] == 7);
        expect(r, 0, drail_wait(r->t, &first, -1));
    }
    end(r, &m);
    free(buffer);
}

static void notify(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, LONG);
    if (r->rank == 1) {
        drail_req_t first;
        fill(r, &m, &first);
        expect(r, DRAIL_EAGAIN, drail_notify(r->t, 0, DRAIL_NOWAIT, 3));
        expect(r, DRAIL_EAGAIN, drail_test(r->t, &first));
        while (drail_notify(r->t, 0, DRAIL_NOWAIT, 3) == DRAIL_EAGAIN)
            ;
    } else {
        uint32_t id;
        expect(r, 0, drail_notify_wait(r->t, 1, &id, -1));
        check(id == 3);
    }
    end(r, &m);
}

/* A batch that has found no room in its time can be tried again. */
static void batch(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, LONG);
    drail_xfer_t x = memory_xfer(r, &m, MESSAGE);
    drail_batch_t b = {.xfer = x, .count = 2, .id = 5, .await_reply = true};
    if (r->rank == 1) {
        drail_req_t first;
        fill(r, &m, &first);
        expect(r, DRAIL_ETIMEOUT, drail_batch(r->t, 0, &b));
        expect(r, DRAIL_EAGAIN, drail_test(r->t, &first));
        expect(r, 0, drail_wait(r->t, &first, 10000));
        expect(r, 0, drail_batch(r->t, 0, &b));
        check(b.reply_id == 6);
    } else {
        uint32_t id;
        int rc;
        while ((rc = drail_batch_answer(r->t, 1, true, 6, &id)) ==
               DRAIL_ETIMEOUT)
            ;
        expect(r, 0, rc);
        check(id == 5);
    }
    end(r, &m);
}

static void get(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, LONG);
    if (r->rank == 1) {
        drail_req_t first;
        drail_xfer_t x = memory_xfer(r, &m, 1024);
        int rc;
        fill(r, &m, &first);
        expect(r, DRAIL_EAGAIN, drail_get(r->t, 0, &x, DRAIL_NOWAIT, NULL));
        expect(r, DRAIL_EAGAIN, drail_test(r->t, &first));
        while ((rc = drail_get(r->t, 0, &x, DRAIL_NOWAIT, NULL)) ==
               DRAIL_EAGAIN)
            ;
        expect(r, 0, rc);
    }
    end(r, &m);
}

static void slow(drail_config_t *cfg)
{
    use_rails(cfg, "slow0", "slow1");
    cfg->depth = DEPTH;
    cfg->stripe_threshold = 0;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void threaded(drail_config_t *cfg)
{
    slow(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void in_short(drail_config_t *cfg)
{
    slow(cfg);
    cfg->timeout_ms = 250;
}

static void threaded_in_short(drail_config_t *cfg)
{
    threaded(cfg);
    cfg->timeout_ms = 250;
}

static const struct test tests[] = {
    {"drail_recv", 2, receive, slow, 0},
    {"drail_recv, threaded", 2, receive, threaded, 0},
    {"DRAIL_NOWAIT", 2, notify, slow, 0},
    {"drail_batch", 2, batch, in_short, 0},
    {"drail_batch, threaded", 2, batch, threaded_in_short, 0},
    {"DRAIL_NOWAIT of drail_get", 2, get, slow, 0},
    {"DRAIL_NOWAIT of drail_get, threaded", 2, get, threaded, 0},
};

/* on a busy machine the long read may be over too early */
RUN_TESTS_AFTER(conf_restart(argv, rails), 3, tests)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link of several ends. When operations are reported as failed, nothing reads
 * or writes the caller's memory any more.
 */
#include "dapl_rail/batch.h"

#include "conf.h"
#include "memory.h"

#define BYTES (1u << 20)

static const char rails[] =
    RAIL("slow0", "rate=4 latency=2") RAIL("slow1", "rate=4 latency=2");

static void filled(struct rank *r, struct memory *m, int value)
{
    memory_open(r, m, BYTES);
    memset(m->bytes, value, BYTES);
}

/* Long enough for what is under way to come: the model needs 0.3 s. */
static void let_pass(struct rank *r)
{
    for (double end = seconds() + 0.5; seconds() < end;)
        drail_notify_wait(r->t, 1, NULL, 10);
}

/* A batch that nobody answers ends the connection, and with it a read: when
 * that has been reported failed, it does not land. The peer sees the end. */
static void late_read(struct rank *r)
{
    struct memory m;
    drail_req_t req;
    filled(r, &m, (int)(1 + r->rank));
    if (r->rank == 0) {
        drail_xfer_t x = memory_xfer(r, &m, BYTES);
        drail_batch_t batch = {.await_reply = true};
        expect(r, 0, drail_get(r->t, 1, &x, 0, &req));
        expect(r, DRAIL_ETIMEOUT, drail_batch(r->t, 1, &batch));
        /* time ran out for the batch; the read has ended with its link */
        expect(r, DRAIL_EPEER, drail_wait(r->t, &req, 5000));
        expect(r, DRAIL_EPEER, drail_test(r->t, &req));
        check(strstr(drail_last_error(r->t), "timed out") != NULL);
        memset(m.bytes, 9, BYTES);
        let_pass(r);
        for (unsigned i = 0; i < BYTES; i++)
            check(m.bytes[i] == 9);
        expect(r, DRAIL_EPEER, drail_fence(r->t, 1));
        expect(r, DRAIL_EPEER, drail_notify(r->t, 1, 0, 0));
    } else {
        expect(r, 0, drail_notify_wait(r->t, 0, NULL, 5000)); /* the batch's */
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, 5000));
    }
    barrier(r);
    drail_mem_release(m.mem);
}

static bool up(const struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).up;
}

/* A put that fails on one rail has nothing under way on the others: as a DTO
 * can't be called back, their links have ended. */
static void failed_put(struct rank *r)
{
    struct memory m;
    drail_req_t req;
    filled(r, &m, (int)(1 + r->rank));
    if (r->rank == 0) {
        drail_xfer_t x = memory_xfer(r, &m, BYTES);
        drail_key_t wrong = m.keys[1];
        wrong.rmr_context[0] ^= 0x5a5a5a5a;
        x.remote = &wrong;
        x.bytes = 8; /* over the first rail */
        expect(r, 0, drail_put(r->t, 1, &x, 0, 0, &req));
        expect(r, DRAIL_EACCESS, drail_wait(r->t, &req, 5000));
        x = memory_xfer(r, &m, BYTES);
        expect(r, DRAIL_EACCESS, drail_put(r->t, 1, &x, 0, 0, &req));
        check(drail_test(r->t, &req) == DRAIL_EACCESS);
        check(!up(r, 0) && !up(r, 1));
        memset(m.bytes, 9, BYTES);
        expect(r, DRAIL_EACCESS, drail_fence(r->t, 1));
        let_pass(r);
    } else {
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, 5000));
    }
    barrier(r);
    for (unsigned i = 0; r->rank == 1 && i < BYTES; i++)
        check(m.bytes[i] != 9);
    barrier(r);
    drail_mem_release(m.mem);
}

static void impatient(drail_config_t *cfg)
{
    use_rails(cfg, "slow0", "slow1");
    cfg->timeout_ms = 100;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void impatient_threaded(drail_config_t *cfg)
{
    impatient(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"late read", 2, late_read, impatient, 0},
    {"failed put", 2, failed_put, impatient, 0},
    {"failed put, threaded", 2, failed_put, impatient_threaded, 0},
};

/* a busy machine may take longer than is allowed to open the rails */
RUN_TESTS_AFTER(conf_restart(argv, rails), 3, tests)

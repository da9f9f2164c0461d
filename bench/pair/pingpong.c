/* SPDX-License-Identifier: BSD-3-Clause */
/* A true ping-pong: one message there, one back; of puts. */
#include <sched.h>

#include "bench/clock.h"
#include "bench/report/result.h"
#include "dapl_rail/platform/platform.h"
#include "loop.h"

#define LOOKS_BEFORE_CALL  1000
#define CALLS_BEFORE_YIELD 64 /* of those that move the data themselves */
#define POLL_TIMEOUT_NS    UINT64_C(30000000000)

/* Gives the peer a chance to run, which may share the core. */
static int let_run(uint64_t *deadline)
{
    uint64_t now = clock_ns();
    if (!*deadline)
        *deadline = now + POLL_TIMEOUT_NS;
    if (clock_elsewhere)
        clock_elsewhere->yield(clock_elsewhere);
    else
        sched_yield();
    return now > *deadline ? DRAIL_ETIMEOUT : 0;
}

/*
 * Waits until the last byte of the message has its new value, as perftest's
 * ib_write_lat does (no pause: it would cost a fifth of the latency). Now and
 * then it gives the library a chance to make progress; at once where it is the
 * library's calls that move the data.
 */
static int await_byte(session_t *s, const uint8_t *byte, uint8_t value,
                      bool polled)
{
    uint64_t deadline = 0;
    unsigned looks = polled ? 1 : LOOKS_BEFORE_CALL;
    unsigned calls = polled ? CALLS_BEFORE_YIELD : 1;
    int rc = 0;

    for (unsigned i = 1; !rc; i++) {
        if (__atomic_load_n(byte, __ATOMIC_ACQUIRE) == value)
            return 0;
        if (i % looks)
            continue;
        rc = drail_notify_wait(s->rail, s->peer, NULL, 0);
        if (rc != DRAIL_EAGAIN)
            return rc ? rc : DRAIL_EINVAL; /* nobody notifies in this loop */
        rc = i % (looks * calls) ? 0 : let_run(&deadline);
    }
    return rc;
}

/* One message there and one back; the target polls its memory. */
static int poll_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    const drail_xfer_t *xfer = arg;
    size_t last = run->bytes - 1;
    uint8_t value = (uint8_t)(1 + i % 255);
    bool polled = drail_rail_at(s->rail, run->setup->rail)->is_polled;
    int rc = 0;

    if (s->rank != 0)
        rc = await_byte(s, &s->target[last], value, polled);
    s->source[last] = value;
    if (!rc)
        rc = drail_put(s->rail, s->peer, xfer, 0, 0, NULL);
    if (!rc && s->rank == 0)
        rc = await_byte(s, &s->target[last], value, polled);
    return rc;
}

/* What has come is what goes back. */
static void consume(const loop_run_t *run)
{
    session_t *s = run->session;
    if (s->opts->consume && !run->checked)
        platform_copy(drail_job_platform(s->job), s->source, s->target,
                      run->bytes);
}

static int await_note(const loop_run_t *run)
{
    session_t *s = run->session;
    int rc = drail_notify_wait(s->rail, s->peer, NULL, -1);
    if (!rc)
        consume(run);
    return rc;
}

/* One message there and one back; the target waits for a notification. */
static int notify_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    const drail_xfer_t *xfer = arg;
    int rc = 0;

    if (s->rank != 0)
        rc = await_note(run);
    if (!rc)
        rc = drail_put(s->rail, s->peer, xfer, DRAIL_NOTIFY, (uint32_t)i, NULL);
    if (!rc && s->rank == 0)
        rc = await_note(run);
    return rc;
}

/* Over one rail the order of bytes within a write tells its end; several rails
 * have no common order, and a link model does not hold bytes back. Who copies
 * messages does so when he is told. */
bool pingpong_polls(const session_t *s, const setup_t *setup)
{
    return setup->op == OP_PUT && setup->engine == DRAIL_ENGINE_SINGLE &&
           !s->opts->consume && !s->opts->notified &&
           !fabric_modelled(drail_rail_at(s->rail, setup->rail)->fabric);
}

static int put_pingpong(loop_run_t *run)
{
    session_t *s = run->session;
    drail_xfer_t xfer = session_xfer(s, run->bytes);
    bool poll = pingpong_polls(s, run->setup) && run->bytes && !run->checked;
    int rc = 0;

    if (poll) {
        s->target[run->bytes - 1] = 0;
        rc = session_sync(s);
    }
    if (!rc)
        rc = loop_measure(run, poll ? poll_step : notify_step, &xfer);
    return rc ? rc : drail_fence(s->rail, s->peer);
}

static int pingpong_run(loop_run_t *run)
{
    switch (run->setup->op) {
    case OP_PUT:
        return put_pingpong(run);
    case OP_SEND:
        return send_pingpong(run);
    default:
        return alone_run(run);
    }
}

const loop_t loop_pingpong = {"pingpong", false, 2, pingpong_run};

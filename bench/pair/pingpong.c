/* SPDX-License-Identifier: BSD-3-Clause */
/* A true ping-pong of puts: one message there, one back. */

#include "bench/clock.h"
#include "result.h"
#include "dapl_rail/platform/platform.h"
#include "loop.h"

#define LOOKS_BEFORE_CALL  1000
#define CALLS_BEFORE_YIELD 64 /* of those that move the data themselves */

/* No division in this loop: on an AMD EPYC, the divisions of looks that the
 * processor had made ahead delayed the next message by 20 ns. And no pause, as
 * in perftest's ib_write_lat: it would cost a fifth of the latency. */
static bool comes(const uint8_t *byte, uint8_t value, unsigned looks)
{
    while (looks--)
        if (__atomic_load_n(byte, __ATOMIC_ACQUIRE) == value)
            return true;
    return false;
}

/*
 * Waits until the last byte of the message has its new value. Now and then it
 * gives the library a chance to make progress; at once where it is the
 * library's calls that move the data.
 */
static int await_byte(session_t *s, const uint8_t *byte, uint8_t value,
                      bool polled)
{
    uint64_t deadline = 0;
    unsigned looks = polled ? 1 : LOOKS_BEFORE_CALL;
    unsigned calls = polled ? CALLS_BEFORE_YIELD : 1;
    int rc = 0;

    for (unsigned i = 1; !rc && !comes(byte, value, looks); i++) {
        rc = drail_notify_wait(s->rail, s->peer, NULL, 0);
        if (rc != DRAIL_EAGAIN)
            return rc ? rc : DRAIL_EINVAL; /* no rank notifies here */
        rc = i % calls ? 0 : clock_let_others(&deadline);
    }
    return rc;
}

/* Messages use buffers in turn. The next buffer is found without a division,
 * which would add to the latency. The value to poll for changes with each use
 * of a buffer. */
typedef struct turns {
    drail_xfer_t xfer; /* the present message, … */
    size_t place;      /* … which is there */
    uint8_t *source;
    size_t stride;
    uint64_t buffers, at;
    uint8_t value;
} turns_t;

static void turn_to(turns_t *turns, uint64_t at)
{
    turns->at = at;
    turns->place = at * turns->stride;
    turns->xfer.local = turns->source + turns->place;
    turns->xfer.remote_offset = SESSION_GUARD + turns->place;
}

static turns_t turns_of(const loop_run_t *run)
{
    const session_t *s = run->session;
    turns_t turns = {.xfer = session_xfer(s, run->bytes),
                     .source = s->source,
                     .stride = session_place(s, run->bytes, 1),
                     .buffers = session_buffers(s, run->bytes),
                     .value = 1};
    turn_to(&turns, s->turn % turns.buffers);
    return turns;
}

static void next_turn(session_t *s, turns_t *turns)
{
    bool again = turns->at + 1 == turns->buffers;
    s->turn++;
    turn_to(turns, again ? 0 : turns->at + 1);
    if (again)
        turns->value = (uint8_t)(1 + turns->value % 255);
}

static int await_message(const loop_run_t *run, const turns_t *turns,
                         bool polled)
{
    session_t *s = run->session;
    size_t last = turns->place + run->bytes - 1;
    int rc = await_byte(s, &s->target[last], turns->value, polled);
    if (!rc && s->opts->read)
        session_look(s, run->bytes, turns->at);
    return rc;
}

/* A message there and back; the target polls its memory. */
static int poll_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    turns_t *turns = arg;
    bool polled = drail_rail_at(s->rail, run->setup->rail)->is_polled;
    int rc = 0;
    (void)i;

    if (s->rank != 0)
        rc = await_message(run, turns, polled);
    s->source[turns->place + run->bytes - 1] = turns->value;
    if (!rc)
        rc = drail_put(s->rail, s->peer, &turns->xfer, 0, 0, NULL);
    if (!rc && s->rank == 0)
        rc = await_message(run, turns, polled);
    next_turn(s, turns);
    return rc;
}

/* Clears the last bytes, so that no rank takes those of an earlier run for new
 * ones. */
static int clear_ends(const loop_run_t *run)
{
    session_t *s = run->session;
    uint64_t used = run->warmup + run->iterations;
    uint64_t buffers = session_buffers(s, run->bytes);
    for (uint64_t n = 0; n < used && n < buffers; n++)
        s->target[session_place(s, run->bytes, s->turn + n) + run->bytes - 1] =
            0;
    return session_sync(s);
}

/* --consume: copies the message that has come to the source of the next one. */
static void consume(const loop_run_t *run, size_t place)
{
    session_t *s = run->session;
    if (s->opts->consume && !run->checked)
        platform_copy(drail_job_platform(s->job), s->source + place,
                      s->target + place, run->bytes);
}

static int await_note(const loop_run_t *run, const turns_t *turns)
{
    session_t *s = run->session;
    int rc = drail_notify_wait(s->rail, s->peer, NULL, -1);
    if (rc)
        return rc;
    consume(run, turns->place);
    if (s->opts->read)
        session_look(s, run->bytes, turns->at);
    return 0;
}

/* A message there and back; the target waits for a notification. */
static int notify_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    turns_t *turns = arg;
    int rc = 0;

    if (s->rank != 0)
        rc = await_note(run, turns);
    if (!rc)
        rc = drail_put(s->rail, s->peer, &turns->xfer, DRAIL_NOTIFY,
                       (uint32_t)i, NULL);
    if (!rc && s->rank == 0)
        rc = await_note(run, turns);
    next_turn(s, turns);
    return rc;
}

/* May the target poll for the last byte of a message? On one rail the last byte
 * is written last. Several rails have no common order, and a link model delays
 * only the event, not the bytes. With --consume the target copies after a
 * notification. */
bool pingpong_polls(const session_t *s, const setup_t *setup)
{
    return setup->op == OP_PUT && setup->engine == DRAIL_ENGINE_SINGLE &&
           !s->opts->consume && !s->opts->notified &&
           !fabric_modelled(drail_rail_at(s->rail, setup->rail)->fabric);
}

static int put_pingpong(loop_run_t *run)
{
    session_t *s = run->session;
    turns_t turns = turns_of(run);
    bool poll = pingpong_polls(s, run->setup) && run->bytes && !run->checked;
    int rc = 0;

    if (poll)
        rc = clear_ends(run);
    if (!rc)
        rc = loop_measure(run, poll ? poll_step : notify_step, &turns);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and atomics: rank 0 works alone, each operation complete before the
 * next. An iteration has two operations, as a ping-pong has two messages.
 */
#include "loop.h"

static int read_one(const loop_run_t *run, uint64_t message)
{
    session_t *s = run->session;
    drail_xfer_t xfer = session_read(s, run->bytes);
    bool turns = s->opts->buffers || s->opts->read; /* saves a division */
    size_t place = turns ? session_place(s, run->bytes, message) : 0;
    drail_req_t req;
    xfer.local = (uint8_t *)xfer.local + place;
    xfer.remote_offset += place;
    int rc = drail_get(s->rail, s->peer, &xfer, 0, &req);
    if (!rc)
        rc = drail_wait(s->rail, &req, -1);
    if (!rc && s->opts->read)
        session_look(s, run->bytes, message);
    return rc;
}

/* Adds 1 to the first word of the peer's target; *value is the value that the
 * word must have before. */
static int atomic_one(const loop_run_t *run, uint64_t *value)
{
    session_t *s = run->session;
    uint64_t old = 0;
    bool swaps = run->setup->op == OP_CMP_SWAP;
    int rc = drail_atomic(
        s->rail, s->peer, swaps ? DRAIL_CMP_SWAP : DRAIL_FETCH_ADD, &s->remote,
        SESSION_GUARD, swaps ? *value + 1 : 1, swaps ? *value : 0, &old);
    if (!rc && old != *value)
        rc = DRAIL_EDAT;
    ++*value;
    return rc;
}

static int one(const loop_run_t *run, uint64_t message, uint64_t *value)
{
    return run->setup->op == OP_GET ? read_one(run, message)
                                    : atomic_one(run, value);
}

/* Rank 0 works. Rank 1 waits for the end in a library call, since providers may
 * need its calls to make progress. */
static int step(loop_run_t *run, uint64_t i, void *arg)
{
    bool last = i + 1 == run->warmup + run->iterations;
    uint64_t turn = run->session->turn;
    run->session->turn += 2;
    if (run->session->rank != 0)
        return last ? loop_hear(run->session) : 0;
    int rc = one(run, turn, arg);
    return rc ? rc : one(run, turn + 1, arg);
}

int alone_run(loop_run_t *run)
{
    session_t *s = run->session;
    uint64_t value = 0;
    int rc = 0;
    if (s->rank == 0 && run->setup->op != OP_GET) /* the value before the run */
        rc = drail_atomic(s->rail, s->peer, DRAIL_FETCH_ADD, &s->remote,
                          SESSION_GUARD, 0, 0, &value);
    if (!rc)
        rc = loop_measure(run, step, &value);
    return rc || s->rank != 0 ? rc : loop_tell(s);
}

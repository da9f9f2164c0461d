/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rank 0 does alone, each one complete before the next: reads and atomics.
 * Two of them are an iteration, as a ping-pong has two messages.
 */
#include "loop.h"

static int read_one(const loop_run_t *run)
{
    session_t *s = run->session;
    drail_xfer_t xfer = session_read(s, run->bytes);
    drail_req_t req;
    int rc = drail_get(s->rail, s->peer, &xfer, 0, &req);
    return rc ? rc : drail_wait(s->rail, &req, -1);
}

/* Adds 1 to the word at the beginning of the peer's target, of which *value is
 * what must be there. */
static int atomic_one(const loop_run_t *run, uint64_t *value)
{
    session_t *s = run->session;
    uint64_t old = 0;
    bool swaps = run->setup->op == OP_CMP_SWAP;
    int rc =
        drail_atomic(s->rail, s->peer, swaps ? DRAIL_CMP_SWAP : DRAIL_FETCH_ADD,
                     &s->remote, SESSION_GUARD, swaps ? *value + 1 : 1,
                     swaps ? *value : 0, &old);
    if (!rc && old != *value)
        rc = DRAIL_EDAT;
    ++*value;
    return rc;
}

static int one(const loop_run_t *run, uint64_t *value)
{
    return run->setup->op == OP_GET ? read_one(run) : atomic_one(run, value);
}

/* Who is read lets the rails go on: providers may need it for that. */
static int step(loop_run_t *run, uint64_t i, void *arg)
{
    bool last = i + 1 == run->warmup + run->iterations;
    if (run->session->rank != 0)
        return last ? loop_hear(run->session) : 0;
    int rc = one(run, arg);
    return rc ? rc : one(run, arg);
}

int alone_run(loop_run_t *run)
{
    session_t *s = run->session;
    uint64_t value = 0;
    int rc = 0;
    if (s->rank == 0 && run->setup->op != OP_GET) /* what is there? */
        rc = drail_atomic(s->rail, s->peer, DRAIL_FETCH_ADD, &s->remote,
                          SESSION_GUARD, 0, 0, &value);
    if (!rc)
        rc = loop_measure(run, step, &value);
    return rc || s->rank != 0 ? rc : loop_tell(s);
}

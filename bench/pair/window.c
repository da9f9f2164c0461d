/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include <stdlib.h>

/* The messages that this rank posts. */
typedef struct window {
    bool sends, receives;
    uint64_t first;            /* buffer of message 0 */
    uint64_t begun, completed; /* messages */
    uint64_t size;
    drail_req_t *req; /* a ring of those under way */
} window_t;

static bool reads(const loop_run_t *run)
{
    return run->setup->op == OP_GET;
}

static drail_req_t *req_of(const window_t *w, uint64_t message)
{
    return &w->req[message % w->size];
}

static int complete_oldest(const loop_run_t *run, window_t *w)
{
    drail_req_t *oldest = req_of(w, w->completed);
    int rc = drail_wait(run->session->rail, oldest, -1);
    if (!rc && reads(run))
        session_look(run->session, run->bytes, w->first + w->completed);
    w->completed += !rc;
    return rc;
}

static drail_xfer_t in_turn(drail_xfer_t xfer, const loop_run_t *run,
                            const window_t *w)
{
    size_t place = session_place(run->session, run->bytes, w->first + w->begun);
    xfer.local = (uint8_t *)xfer.local + place;
    xfer.remote_offset += place;
    return xfer;
}

static int post_one(const loop_run_t *run, window_t *w)
{
    session_t *s = run->session;
    int rc = w->begun - w->completed == w->size ? complete_oldest(run, w) : 0;
    if (!rc && reads(run)) {
        drail_xfer_t xfer = in_turn(session_read(s, run->bytes), run, w);
        rc = drail_get(s->rail, s->peer, &xfer, 0, req_of(w, w->begun));
    } else if (!rc) {
        drail_xfer_t xfer = in_turn(session_xfer(s, run->bytes), run, w);
        rc = drail_put(s->rail, s->peer, &xfer, 0, 0, req_of(w, w->begun));
    }
    w->begun += !rc;
    return rc;
}

static int complete_all(const loop_run_t *run, window_t *w)
{
    int rc = 0;
    while (!rc && w->completed < w->begun)
        rc = complete_oldest(run, w);
    return rc;
}

/* Both ranks learn that all messages have arrived. With --read, the receiver
 * reads a batch before it answers. */
static int settle(const loop_run_t *run, const window_t *w)
{
    session_t *s = run->session;
    int rc = w->sends ? loop_tell(s) : 0;
    if (!rc && w->receives)
        rc = loop_hear(s);
    if (!rc && w->receives && !reads(run))
        for (uint64_t n = 0; s->opts->read && n < s->opts->batch; n++)
            session_look(s, run->bytes, s->turn + n);
    if (!rc && w->receives)
        rc = loop_tell(s);
    if (!rc && w->sends)
        rc = loop_hear(s);
    return rc;
}

static int window_step(loop_run_t *run, uint64_t i, void *arg)
{
    window_t *w = arg;
    bool last = i + 1 == run->warmup || i + 1 == run->warmup + run->iterations;
    int rc = 0;
    for (uint64_t n = w->sends ? run->session->opts->batch : 0; !rc && n; n--)
        rc = post_one(run, w);
    bool whole = last || !run->session->opts->window;
    if (!rc && whole)
        rc = complete_all(run, w);
    if (!rc && whole && !reads(run))
        rc = settle(run, w);
    run->session->turn += run->session->opts->batch;
    return rc;
}

int window_run(loop_run_t *run, unsigned directions)
{
    session_t *s = run->session;
    window_t w = {.first = s->turn,
                  .sends = s->rank == 0 || directions == 2,
                  .receives = s->rank == 1 || directions == 2};
    w.size = s->opts->window ? s->opts->window : s->opts->batch;
    w.req = calloc(w.size, sizeof *w.req);
    int rc = w.req ? loop_measure(run, window_step, &w) : DRAIL_ENOMEM;
    for (; w.completed < w.begun; w.completed++)
        drail_forget(s->rail, req_of(&w, w.completed));
    if (!rc && reads(run)) /* rank 1 makes progress in settle() */
        rc = settle(run, &w);
    free(w.req);
    return rc;
}

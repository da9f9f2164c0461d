/* SPDX-License-Identifier: BSD-3-Clause */
#include "window.h"

#include <limits.h>
#include <stdlib.h>

/* What this rank has posted. */
typedef struct window {
    bool sends, receives;
    uint64_t begun, completed; /* messages */
    drail_req_t *req;          /* a ring of those under way */
} window_t;

static drail_req_t *req_of(const loop_run_t *run, const window_t *w,
                           uint64_t message)
{
    return &w->req[message % run->session->opts->window];
}

static int complete_oldest(const loop_run_t *run, window_t *w)
{
    drail_req_t *oldest = req_of(run, w, w->completed);
    int rc = drail_wait(run->session->rail, oldest, -1);
    w->completed += !rc;
    return rc;
}

static int post_one(const loop_run_t *run, window_t *w)
{
    session_t *s = run->session;
    drail_xfer_t xfer = session_xfer(s, run->bytes);
    int rc = w->begun - w->completed == s->opts->window
                 ? complete_oldest(run, w)
                 : 0;
    if (!rc)
        rc = drail_put(s->rail, s->peer, &xfer, 0, 0, req_of(run, w, w->begun));
    w->begun += !rc;
    return rc;
}

static int tell(session_t *s)
{
    return drail_notify(s->rail, s->peer, DRAIL_ALL_RAILS, 0);
}

/* The peer tells nothing while it streams, for as long as that takes: it may
 * die meanwhile, and each of its own waits is bounded. */
static int hear(session_t *s)
{
    return drail_notify_wait(s->rail, s->peer, NULL, INT_MAX);
}

/* All have arrived, and both ranks know it. */
static int settle(const loop_run_t *run, window_t *w)
{
    session_t *s = run->session;
    int rc = 0;
    while (!rc && w->completed < w->begun)
        rc = complete_oldest(run, w);
    if (!rc && w->sends)
        rc = tell(s);
    if (!rc && w->receives)
        rc = hear(s);
    if (!rc && w->receives)
        rc = tell(s);
    if (!rc && w->sends)
        rc = hear(s);
    return rc;
}

static int window_step(loop_run_t *run, uint64_t i, void *arg)
{
    window_t *w = arg;
    bool last = i + 1 == run->warmup || i + 1 == run->warmup + run->iterations;
    int rc = 0;
    for (uint64_t n = w->sends ? run->session->opts->batch : 0; !rc && n; n--)
        rc = post_one(run, w);
    return rc || !last ? rc : settle(run, w);
}

int window_run(loop_run_t *run, unsigned directions)
{
    session_t *s = run->session;
    window_t w = {.sends = s->rank == 0 || directions == 2,
                  .receives = s->rank == 1 || directions == 2};
    w.req = calloc(s->opts->window, sizeof *w.req);
    int rc = w.req ? loop_measure(run, window_step, &w) : DRAIL_ENOMEM;
    for (; w.completed < w.begun; w.completed++)
        drail_forget(s->rail, req_of(run, &w, w.completed));
    free(w.req);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops of uni- and bi-directional bandwidth, by the procedure of Cai et
 * al. 2009, figs. 2, 4 and 5: a batch of RDMA writes with completions
 * suppressed, a send to notify, a receive of the acknowledgement.
 */
#include "loop.h"
#include "window.h"

/* Rank 0 of figs. 2, 4, 5 (server) and rank 1 (client). */
static int bw_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    drail_batch_t *batch = arg;
    if (s->rank != 0)
        return drail_batch_answer(s->rail, s->peer, true, (uint32_t)i, NULL);
    batch->id = (uint32_t)i;
    return drail_batch(s->rail, s->peer, batch);
}

/* Both ranks are server and client at once. The batch's reply is the peer's
 * notification, so the peer's data is here. A second exchange without data
 * acknowledges that; then both ranks know that both directions are complete. */
static int bibw_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    drail_batch_t *batch = arg;
    drail_batch_t ack = {
        .xfer = session_xfer(s, 0), .id = (uint32_t)i, .await_reply = true};
    batch->id = (uint32_t)i;
    int rc = drail_batch(s->rail, s->peer, batch);
    return rc ? rc : drail_batch(s->rail, s->peer, &ack);
}

static int run_batches(loop_run_t *run,
                       int (*step)(loop_run_t *, uint64_t, void *))
{
    drail_batch_t own = {0}, *batch = run->account ? run->account : &own;
    *batch = (drail_batch_t){.xfer = session_xfer(run->session, run->bytes),
                             .count = (unsigned)run->session->opts->batch,
                             .await_reply = true,
                             .account = run->account != NULL};
    return loop_measure(run, step, batch);
}

static int run_either(loop_run_t *run, unsigned directions,
                      int (*step)(loop_run_t *, uint64_t, void *))
{
    op_kind_t op = run->setup->op;
    if (op == OP_SEND)
        return send_batches(run);
    return op == OP_GET || run->session->opts->window ||
                   session_turns(run->session)
               ? window_run(run, directions)
               : run_batches(run, step);
}

static int bw_run(loop_run_t *run)
{
    return run_either(run, 1, bw_step);
}

static int bibw_run(loop_run_t *run)
{
    return run_either(run, 2, bibw_step);
}

const loop_t loop_bw = {"batch", true, 1, bw_run};
const loop_t loop_bibw = {"batch", true, 2, bibw_run};

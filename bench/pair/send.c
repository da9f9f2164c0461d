/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-sided messages: rank 0 sends, the target receives each. */
#include "loop.h"

static int send_one(const loop_run_t *run, uint64_t message)
{
    session_t *s = run->session;
    return drail_send(s->rail, s->peer,
                      s->source + session_place(s, run->bytes, message),
                      run->bytes, s->source_mem);
}

static int receive_one(const loop_run_t *run, uint64_t message)
{
    session_t *s = run->session;
    size_t received = 0;
    int rc = drail_recv(s->rail, s->peer,
                        s->target + session_place(s, run->bytes, message),
                        run->bytes, &received, -1);
    if (!rc)
        session_look(s, run->bytes, message);
    return !rc && received != run->bytes ? DRAIL_ETRUNC : rc;
}

/* Rank 1 answers each batch; with --window, only the last one of a run. */
static int batch_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    bool answered = !s->opts->window || i + 1 == run->warmup ||
                    i + 1 == run->warmup + run->iterations;
    int rc = 0;
    (void)arg;
    for (uint64_t n = 0; !rc && n < s->opts->batch; n++)
        rc = s->rank == 0 ? send_one(run, s->turn++)
                          : receive_one(run, s->turn++);
    if (rc || !answered)
        return rc;
    return s->rank == 0 ? loop_hear(s) : loop_tell(s);
}

int send_batches(loop_run_t *run)
{
    return loop_measure(run, batch_step, NULL);
}

static int pingpong_step(loop_run_t *run, uint64_t i, void *arg)
{
    session_t *s = run->session;
    uint64_t turn = s->turn++;
    int rc = s->rank == 0 ? send_one(run, turn) : receive_one(run, turn);
    (void)i;
    (void)arg;
    if (rc)
        return rc;
    return s->rank == 0 ? receive_one(run, turn) : send_one(run, turn);
}

int send_pingpong(loop_run_t *run)
{
    return loop_measure(run, pingpong_step, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <string.h>

#include "bench/clock.h"
#include "loop.h"

int loop_measure(loop_run_t *run, int (*step)(loop_run_t *, uint64_t, void *),
                 void *arg)
{
    uint64_t cpu = 0, start = 0, last = 0, end = run->warmup + run->iterations;
    hist_t *samples = run->session->rank == 0 ? run->samples : NULL;

    for (uint64_t i = 0; i < end; i++) {
        if (i == run->warmup) {
            if (run->account)
                memset(run->account->per_rail, 0,
                       sizeof run->account->per_rail);
            cpu = clock_cpu_ns();
            start = last = clock_ns();
        }
        /* look for interrupts here, as short steps never do */
        int rc = drail_job_interrupted(run->session->job) ? DRAIL_EINTR
                                                          : step(run, i, arg);
        if (rc)
            return rc;
        /* read the clock once: the end of an iteration is the start of the
         * next */
        if (samples && i >= run->warmup) {
            uint64_t now = clock_ns();
            hist_add(samples, now - last);
            last = now;
        }
    }
    run->ns = (samples ? last : clock_ns()) - start;
    run->cpu_ns = clock_cpu_ns() - cpu;
    return 0;
}

int loop_tell(session_t *s)
{
    return drail_notify(s->rail, s->peer, DRAIL_ALL_RAILS, 0);
}

int loop_hear(session_t *s)
{
    return drail_notify_wait(s->rail, s->peer, NULL, INT_MAX);
}

uint64_t loop_bytes(const loop_t *loop, uint64_t bytes, uint64_t batch)
{
    return bytes * (loop->batched ? batch * loop->directions : 2);
}

uint64_t loop_messages(const loop_t *loop, uint64_t batch)
{
    return loop->batched ? batch : 2;
}

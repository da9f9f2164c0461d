/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/peer_wait.h"

#include <limits.h>
#include <sched.h>

#include "dsm/base/enter.h"
#include "dsm/sync/control.h"
#include "dsm/sync/pack_server.h"

#define TESTS    32u     /* polls before a pause: a collective takes steps */
#define YIELD_NS 300000u /* it yields for so long, then it sleeps */
#define NAP_NS   50000
#define LOOK_NS  1000000000u /* period of probing other ranks */
#define AT_ONCE  16u         /* ranks probed each time */
#define STEP_NS  1000        /* virtual time of a pause */

struct peer_wait peer_wait_begin(const ddsm_t *d)
{
    const uint64_t now = space_now_ns();
    const uint64_t ns =
        d->cfg.wait_ms < 0 ? NEVER : (uint64_t)d->cfg.wait_ms * 1000000u;
    return (struct peer_wait){now, now, deadline_after(now, ns)};
}

/* Probes some ranks, in turn. A rank that is gone or broken will never come; a
 * rank that does not answer may. */
static int some_there(ddsm_t *d, struct peer_wait *peer_wait)
{
    for (unsigned i = 0; i < AT_ONCE && i < d->size; i++) {
        const unsigned r = d->probed++ % d->size;
        int rc = r == d->rank ? 0 : control_probe(d, r);
        deadline_turn(&peer_wait->end, space_now_ns());
        if (rc && rc != DRAIL_ETIMEOUT)
            return space_break_rails(d, rc, "looking after the other ranks");
        if (d->control.probe[r])
            return space_break(
                d, space_fail(d, DRAIL_EPEER,
                              "rank %u has given up: its memory is broken", r));
    }
    return 0;
}

static int look(ddsm_t *d, struct peer_wait *peer_wait, uint64_t now)
{
    int rc = pack_serve(d); /* what is waited for may wait for that */
    if (rc)
        return rc;
    if (drail_job_interrupted(d->job))
        return space_break(d, space_fail(d, DRAIL_EINTR, "interrupted"));
    deadline_turn(&peer_wait->end, now);
    if (!deadline_left(&peer_wait->end))
        return DRAIL_ETIMEOUT;
    if (now - peer_wait->looked_ns < LOOK_NS)
        return 0;
    peer_wait->looked_ns = now;
    return some_there(d, peer_wait);
}

static void pass_time(void *job)
{
    drail_job_compute(job, STEP_NS);
}

static void yield(void *job)
{
    (void)job;
    sched_yield();
}

static void nap(void *job)
{
    (void)job;
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

int peer_wait_pause(ddsm_t *d, struct peer_wait *peer_wait)
{
    const uint64_t now = space_now_ns();
    int rc = look(d, peer_wait, now);
    if (rc)
        return rc;
    space_step_out(d,
                   drail_job_is_simulated(d->job)         ? pass_time
                   : now - peer_wait->start_ns < YIELD_NS ? yield
                                                          : nap,
                   d->job);
    return d->broken;
}

int peer_wait_inside(ddsm_t *d, struct peer_wait *peer_wait)
{
    const uint64_t now = space_now_ns();
    int rc = look(d, peer_wait, now);
    if (rc)
        return rc;
    drail_progress(d->t);
    if (now - peer_wait->start_ns < YIELD_NS)
        yield(d->job);
    else
        nap(d->job);
    return 0;
}

int peer_wait_complete(ddsm_t *d, dcoll_request_t *request)
{
    struct peer_wait peer_wait = peer_wait_begin(d);
    if (drail_job_is_simulated(d->job))
        return dcoll_wait(request,
                          d->cfg.wait_ms < 0 ? INT_MAX : d->cfg.wait_ms);
    for (;;) {
        int rc = DRAIL_EAGAIN;
        for (unsigned i = 0; i < TESTS && rc == DRAIL_EAGAIN; i++)
            rc = dcoll_test(request);
        if (rc != DRAIL_EAGAIN)
            return rc;
        rc = peer_wait_pause(d, &peer_wait);
        if (rc)
            return rc;
    }
}

int peer_wait_run(ddsm_t *d, dcoll_request_t *request, const char *what)
{
    int rc = dcoll_start(request);
    if (!rc)
        rc = peer_wait_complete(d, request);
    if (rc && !d->broken)
        space_break(d,
                    space_fail(d, rc, "%s: %s: %.180s", what,
                               drail_strerror(rc), dcoll_last_error(d->team)));
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/vigil.h"

#include <sched.h>

#include "dsm/control.h"

#define YIELD_NS 300000u /* so long it only yields */
#define NAP_NS   50000
#define LOOK_NS  1000000000u /* so often it looks after the others */
#define STEP_NS  1000        /* simulated: so much time passes meanwhile */

struct vigil vigil_begin(void)
{
    const uint64_t now = space_now_ns();
    return (struct vigil){now, now};
}

/* Who is gone never comes. */
static int all_there(ddsm_t *d)
{
    int rc = 0;
    for (unsigned r = 0; r < d->size && !rc; r++)
        if (r != d->rank)
            rc = control_read(d, r, 0, d->control.word, sizeof(uint64_t));
    return rc;
}

static int look(ddsm_t *d, struct vigil *vigil, uint64_t now)
{
    if (drail_job_interrupted(d->job))
        return d->broken = space_fail(d, DRAIL_EINTR, "interrupted");
    if (d->cfg.wait_ms >= 0 &&
        now - vigil->start_ns > (uint64_t)d->cfg.wait_ms * 1000000u)
        return DRAIL_ETIMEOUT;
    if (now - vigil->looked_ns < LOOK_NS)
        return 0;
    vigil->looked_ns = now;
    return all_there(d);
}

int vigil_pause(ddsm_t *d, struct vigil *vigil)
{
    const uint64_t now = space_now_ns();
    int rc = look(d, vigil, now);
    if (rc)
        return rc;
    pthread_mutex_unlock(&d->mutex);
    drail_job_compute(d->job, STEP_NS);
    if (now - vigil->start_ns < YIELD_NS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    pthread_mutex_lock(&d->mutex);
    return d->broken;
}

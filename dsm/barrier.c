/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>

#include "dsm/flush.h"
#include "dsm/notices.h"
#include "dsm/vigil.h"

/* Where others need this rank's calls to get at its memory, it goes on making
 * them; a wait would sleep until they have come. */
static int wait_serving(ddsm_t *d)
{
    struct vigil vigil = vigil_begin();
    for (;;) {
        int rc = dcoll_test(d->meeting);
        if (rc != DRAIL_EAGAIN)
            return rc;
        rc = vigil_pause(d, &vigil);
        if (rc)
            return rc;
    }
}

static int meet(ddsm_t *d)
{
    const int wait_ms = d->cfg.wait_ms < 0 ? INT_MAX : d->cfg.wait_ms;
    notices_arrive(d, d->control.arrival);
    int rc = dcoll_start(d->meeting);
    if (!rc)
        rc = d->serves ? wait_serving(d) : dcoll_wait(d->meeting, wait_ms);
    if (!rc || d->broken)
        return rc;
    d->broken = space_fail(d, rc, "barrier: %s: %.180s", drail_strerror(rc),
                           dcoll_last_error(d->team));
    return rc;
}

int ddsm_barrier(ddsm_t *d)
{
    if (!d)
        return DRAIL_EINVAL;
    const uint64_t start = space_now_ns();
    pthread_mutex_lock(&d->mutex);
    int rc = d->broken ? d->broken : flush(d);
    if (!rc) {
        notices_announce(d);
        rc = meet(d);
    }
    for (unsigned r = 0; r < d->size && !rc; r++)
        rc = notices_take(d, r, d->control.arrivals[r].head,
                          &d->control.arrivals[r]);
    d->stats.barriers++;
    d->stats.barrier_ns += space_now_ns() - start;
    pthread_mutex_unlock(&d->mutex);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/base/enter.h"
#include "dsm/pages/flush.h"
#include "dsm/sync/notices.h"
#include "dsm/sync/peer_wait.h"

/* Ranks that have made equally many allocations must have made the same. */
static int check_shapes(ddsm_t *d)
{
    for (unsigned r = 0; r < d->size; r++) {
        const struct arrival *a = &d->control.arrivals[r];
        if (a->allocs == d->allocs && a->shape != d->shape)
            return space_break(
                d, space_fail(d, DRAIL_EINVAL,
                              "rank %u has given other arguments to ddsm_alloc",
                              r));
    }
    return 0;
}

static int exchange_arrivals(ddsm_t *d)
{
    notices_summarize(d, d->control.arrival);
    int rc = dcoll_start(d->barrier_request);
    if (!rc)
        rc = peer_wait_complete(d, d->barrier_request);
    if (rc && !d->broken)
        space_break(d,
                    space_fail(d, rc, "barrier: %s: %.180s", drail_strerror(rc),
                               dcoll_last_error(d->team)));
    return rc ? rc : check_shapes(d);
}

int ddsm_barrier(ddsm_t *d)
{
    if (!d)
        return DRAIL_EINVAL;
    const uint64_t start = space_now_ns();
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken ? d->broken : flush(d);
    if (!rc) {
        notices_append(d);
        rc = exchange_arrivals(d);
    }
    /* another thread may have faulted meanwhile (by reading: a read may be
     * taken for a write) */
    if (!rc)
        rc = flush(d);
    for (unsigned r = 0; r < d->size && !rc; r++)
        rc = notices_apply(d, r, d->control.arrivals[r].head,
                           &d->control.arrivals[r]);
    d->stats.barriers++;
    d->stats.barrier_ns += space_now_ns() - start;
    space_leave(d);
    return rc;
}

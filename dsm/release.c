/* SPDX-License-Identifier: BSD-3-Clause */
/* ddsm_release, ddsm_acquire, ddsm_flush: synchronisation without a lock. */
#include "dsm/release.h"

#include <stddef.h>

#include "dsm/base/enter.h"
#include "dsm/heap/returns.h"
#include "dsm/pages/flush.h"
#include "dsm/sync/control.h"
#include "dsm/sync/notices.h"

int release_writes(ddsm_t *d)
{
    returns_collect(d);
    int rc = flush(d);
    if (rc)
        return rc;
    notices_append(d);
    return returns_hand_over(d);
}

int acquire_up_to(ddsm_t *d, const uint64_t *heads)
{
    int rc = 0;
    for (unsigned r = 0; r < d->size && !rc; r++)
        rc = notices_apply(d, r, heads[r], NULL);
    if (!rc)
        rc = notices_end_visits(d);
    if (!rc)
        returns_take(d);
    return rc;
}

/* Reads how far each rank's log goes. */
static int read_ends(ddsm_t *d)
{
    int rc = 0;
    for (unsigned r = 0; r < d->size && !rc; r++)
        if (r != d->rank)
            rc = control_read(d, r, offsetof(struct notice_log, end),
                              &d->control.ends[r], sizeof(uint64_t));
    return rc;
}

static int acquire(ddsm_t *d)
{
    int rc = read_ends(d);
    if (!rc)
        rc = flush(d);
    return rc ? rc : acquire_up_to(d, d->control.ends);
}

static int enter_and(ddsm_t *d, bool releases, bool acquires)
{
    if (!d)
        return DRAIL_EINVAL;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken;
    if (!rc && releases)
        rc = release_writes(d);
    if (!rc && acquires)
        rc = acquire(d);
    space_leave(d);
    return rc;
}

int ddsm_release(ddsm_t *d)
{
    return enter_and(d, true, false);
}

int ddsm_acquire(ddsm_t *d)
{
    return enter_and(d, false, true);
}

int ddsm_flush(ddsm_t *d)
{
    return enter_and(d, true, true);
}

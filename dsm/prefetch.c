/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/alloc.h"
#include "dsm/base/enter.h"
#include "dsm/pages/coalesce.h"
#include "dsm/pages/fetch.h"
#include "dsm/pages/pages.h"

static int prefetch(ddsm_t *d, size_t first, size_t count, bool writable)
{
    int rc = fetch(d, first, count);
    return !rc && writable ? pages_make_range_dirty(d, first, count) : rc;
}

int ddsm_prefetch(ddsm_t *d, const void *start, size_t bytes, bool writable)
{
    if (!d)
        return DRAIL_EINVAL;
    size_t first, count;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken;
    if (!rc && !alloc_find(d, start, bytes, &first, &count))
        rc = space_fail(d, DRAIL_EINVAL,
                        "ddsm_prefetch: %p, %zu bytes, is not within the "
                        "memory that is allocated",
                        start, bytes);
    if (!rc && bytes) {
        const uint64_t began = space_now_ns();
        const drail_error_t before = d->error;
        rc = prefetch(d, first, count, writable);
        if (rc == DRAIL_ENOMEM && !d->broken) {
            rc = coalesce_mappings(d);
            if (!rc)
                rc = prefetch(d, first, count, writable);
            /* faults will serve what is missing */
            if (rc == DRAIL_ENOMEM && !d->broken)
                rc = 0;
            if (!rc)
                d->error = before;
        }
        d->stats.ahead_ns += space_now_ns() - began;
    }
    space_leave(d);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/coalesce.h"

#include "dsm/pages/exclusive.h"
#include "dsm/pages/flush.h"
#include "dsm/pages/pages.h"

int coalesce_mappings(ddsm_t *d)
{
    int rc = d->broken ? d->broken : flush(d);
    for (size_t p = 0, n; p < d->used && !rc; p += n) {
        const bool open = page_is_open(d, p);
        for (n = 1; p + n < d->used && page_is_open(d, p + n) == open; n++)
            continue;
        if (!open && pages_set(d, p, n, PAGE_INVALID))
            rc = space_break(d, DRAIL_ENOMEM);
    }
    /* a rank may have fetched them after flush() had looked, and before they
     * were protected */
    for (size_t p = d->moving_first; p < d->moving_end && !rc; p++)
        if (d->page[p].exclusive && d->page[p].home == d->rank)
            exclusive_announce(d, p);
    return rc;
}

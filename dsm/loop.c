/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/base/enter.h"

void ddsm_part(const ddsm_t *d, size_t begin, size_t end, size_t *first,
               size_t *last)
{
    const size_t n = end > begin ? end - begin : 0;
    *first = begin + (size_t)((unsigned __int128)n * d->rank / d->size);
    *last = begin + (size_t)((unsigned __int128)n * (d->rank + 1) / d->size);
}

int ddsm_for(ddsm_t *d, size_t begin, size_t end,
             void (*body)(size_t first, size_t last, void *context),
             void *context)
{
    size_t first, last;
    if (!d || !body)
        return DRAIL_EINVAL;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken;
    space_leave(d);
    if (rc)
        return rc;
    ddsm_part(d, begin, end, &first, &last);
    if (first < last)
        body(first, last, context);
    return ddsm_barrier(d);
}

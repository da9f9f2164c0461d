/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/coalesce.h"

#include "dsm/pages/flush.h"

int coalesce_mappings(ddsm_t *d)
{
    int rc = d->broken ? d->broken : flush(d);
    if (rc)
        return rc;
    rc = flush_protect_all(d);
    return rc ? space_break(d, rc) : 0;
}

int coalesce_if_full(ddsm_t *d, int rc, const drail_error_t *before)
{
    if (rc != DRAIL_ENOMEM || d->broken)
        return rc;
    rc = coalesce_mappings(d);
    if (!rc)
        d->error = *before;
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/coalesce.h"

#include "dsm/pages/flush.h"
#include "dsm/pages/pages.h"

int coalesce_mappings(ddsm_t *d)
{
    int rc = d->broken ? d->broken : flush(d);
    if (!rc && pages_set(d, 0, d->used, PAGE_INVALID))
        rc = space_break(d, DRAIL_ENOMEM);
    return rc;
}

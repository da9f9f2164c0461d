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

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/base/rdma.h"

int rdma_read(ddsm_t *d, unsigned rank, const drail_xfer_t *xfer)
{
    drail_req_t req;
    int rc = drail_get(d->t, rank, xfer, 0, &req);
    if (rc)
        return rc;
    rc = drail_wait(d->t, &req, -1);
    if (rc)
        drail_forget(d->t, &req);
    return rc;
}

int rdma_write(ddsm_t *d, unsigned rank, const drail_xfer_t *xfer)
{
    int rc = drail_put(d->t, rank, xfer, 0, 0, NULL);
    return rc ? rc : drail_fence(d->t, rank);
}

int rdma_count_everywhere(ddsm_t *d, size_t offset)
{
    int rc = 0;
    for (unsigned r = 0; r < d->size && !rc; r++)
        rc = drail_atomic(d->t, r, DRAIL_FETCH_ADD, &d->control.keys[r], offset,
                          1, 0, NULL);
    return rc;
}

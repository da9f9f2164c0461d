/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider that says what an RDMA may be long at most, as the test wishes. */
#ifndef TESTS_RDMA_LIMIT_H
#define TESTS_RDMA_LIMIT_H

#include "ranks.h"
#include "tests/stand_in.h"

static DAT_SEG_LENGTH rdma_limit; /* that the provider says */

STAND_IN DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *evd,
                                 DAT_IA_ATTR_MASK mask, DAT_IA_ATTR *attr,
                                 DAT_PROVIDER_ATTR_MASK provider_mask,
                                 DAT_PROVIDER_ATTR *provider)
{
    DAT_RETURN status =
        real(dat_ia_query)(ia, evd, mask, attr, provider_mask, provider);
    if (status == DAT_SUCCESS && attr)
        attr->max_rdma_size = rdma_limit;
    return status;
}

#endif

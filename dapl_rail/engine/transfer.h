/* SPDX-License-Identifier: BSD-3-Clause */
/* Striped transfers. */
#ifndef DRAIL_ENGINE_TRANSFER_H
#define DRAIL_ENGINE_TRANSFER_H

#include "dapl_rail/links/link.h"
#include "dapl_rail/dapl_rail.h"

/* Is the transfer within its local and remote memory? */
int xfer_check(drail_t *t, const drail_xfer_t *xfer);
/* Posts one chunk as RDMA writes or reads, the last with done. */
int rdma_post(struct link *link, enum verb verb, const drail_xfer_t *xfer,
              size_t offset, size_t bytes, const struct completion *done);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* An RDMA read or write that the caller waits for. They return errors of the
 * transport, which do not break the memory yet. */
#ifndef DSM_BASE_RDMA_H
#define DSM_BASE_RDMA_H

#include "dsm/base/space.h"

/* Returns when the bytes are here. */
int rdma_read(ddsm_t *d, unsigned rank, const drail_xfer_t *xfer);
/* Returns when the bytes are in the rank's memory. */
int rdma_write(ddsm_t *d, unsigned rank, const drail_xfer_t *xfer);
/* Adds 1 to the word at @offset of each rank's control memory. */
int rdma_count_everywhere(ddsm_t *d, size_t offset);

#endif

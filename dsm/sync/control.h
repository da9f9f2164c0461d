/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of each rank that others read and write: its log, and locks. */
#ifndef DSM_SYNC_CONTROL_H
#define DSM_SYNC_CONTROL_H

#include "dsm/base/space.h"

/* This rank's; keys are exchanged by the caller. */
int control_open(ddsm_t *d);
/* After drail_close(), which has given back what is registered. */
void control_close(ddsm_t *d);

/* Reads @bytes at @offset of a rank's, to memory within this rank's. */
int control_read(ddsm_t *d, unsigned rank, size_t offset, void *to,
                 size_t bytes);
/* Asks whether a rank is there; then control.probe says whether its memory is
 * broken. DRAIL_ETIMEOUT: it does not answer at the moment. */
int control_probe(ddsm_t *d, unsigned rank);
/* Writes there; they are there when it returns. */
int control_write(ddsm_t *d, unsigned rank, size_t offset, void *from,
                  size_t bytes);

#endif

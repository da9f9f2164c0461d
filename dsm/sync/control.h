/* SPDX-License-Identifier: BSD-3-Clause */
/* Control memory: registered memory of each rank that other ranks read and
 * write: its log of write notices, and locks (struct control). */
#ifndef DSM_SYNC_CONTROL_H
#define DSM_SYNC_CONTROL_H

#include "dsm/base/space.h"

/* Allocates this rank's; the caller exchanges the keys. */
int control_open(ddsm_t *d);
/* Call it after drail_close(), which frees the registered memory. */
void control_close(ddsm_t *d);

/* Reads @bytes at @offset of @rank's control memory to @to, in this rank's. An
 * error breaks the memory. */
int control_read(ddsm_t *d, unsigned rank, size_t offset, void *to,
                 size_t bytes);
/* Reads a rank's `broken` to control.probe. DRAIL_ETIMEOUT: no answer within
 * 20 ms, which is no failure. */
int control_probe(ddsm_t *d, unsigned rank);
/* Writes from this rank's control memory; the bytes have arrived when it
 * returns. An error breaks the memory. */
int control_write(ddsm_t *d, unsigned rank, size_t offset, void *from,
                  size_t bytes);
/* To another rank: the same, but the bytes may arrive later. They stay as they
 * are until an answer of the rank says that they have. If a rail breaks, @from
 * may be read and sent again even after that, so it serves this purpose only.
 */
int control_post(ddsm_t *d, unsigned rank, size_t offset, void *from,
                 size_t bytes);

#endif

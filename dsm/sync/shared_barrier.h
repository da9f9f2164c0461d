/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier of ranks that map the same memory (one_host.h): each rank stores
 * its arrival in a place of the space's file, where the others load it. */
#ifndef DSM_SYNC_SHARED_BARRIER_H
#define DSM_SYNC_SHARED_BARRIER_H

#include "dsm/base/space.h"

/* Bytes of the file behind the pages. */
size_t shared_barrier_bytes(const ddsm_t *d);
int shared_barrier_open(ddsm_t *d);
void shared_barrier_close(ddsm_t *d);
/* Waits until all ranks have arrived. @notes has ddsm.size places of
 * DDSM_NOTE_BYTES, or is NULL; @note may be NULL. control.arrivals gets
 * `allocs` and `shape` of each rank. Errors as of peer_wait_pause(), and all
 * break the memory. */
int shared_barrier_run(ddsm_t *d, const void *note, void *notes);

#endif

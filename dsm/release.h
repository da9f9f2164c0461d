/* SPDX-License-Identifier: BSD-3-Clause */
/* The two halves of a synchronisation, also of locks. */
#ifndef DSM_RELEASE_H
#define DSM_RELEASE_H

#include "dsm/base/space.h"

/* Around a flush and its notices_append(), as other ranks may see what the
 * flush writes before its notices are there. They may wait for the end, so
 * nothing in between waits for another rank to synchronise, only for homes that
 * serve packs; ranks that wait do. */
void release_begin(ddsm_t *d);
void release_end(ddsm_t *d);
/* Writes this rank's changes home: in a pack, if homes serve them. Afterwards
 * only hot pages are dirty (hot.h). */
int release_flush(ddsm_t *d);
/* The same, and announces them. */
int release_writes(ddsm_t *d);
/* What a release has to do, but for a fence, if ddsm.is_shared: nothing is to
 * be written home. */
int release_shared(ddsm_t *d);
/* Makes visible what each rank has announced up to a position of its log. Call
 * it after release_flush(). */
int acquire_up_to(ddsm_t *d, const uint64_t *heads);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes this rank's changes to the homes of the pages. */
#ifndef DSM_PAGES_FLUSH_H
#define DSM_PAGES_FLUSH_H

#include "dsm/base/space.h"

/* Afterwards no page is dirty, the changes have arrived at the homes, and
 * ddsm.written lists the pages that were changed. */
int flush(ddsm_t *d);
/* The same, but changes in more than @few pieces of a page go to this rank's
 * pack, which pack_exchange() or pack_deliver() brings home. Sets
 * ddsm.has_pack. 0: packs nothing. */
int flush_and_pack(ddsm_t *d, unsigned few);
/* The same for a release: hot pages stay dirty (hot.h). */
int flush_and_leave_hot(ddsm_t *d, unsigned few);
/* Protects the dirty pages of a range whose home is elsewhere, and writes their
 * changes home. */
int flush_range(ddsm_t *d, size_t first, size_t count);
/* Makes all pages invalid, which are one mapping then. Their changes remain to
 * be written home. */
int flush_protect_all(ddsm_t *d);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which pages were written: each rank's log, and what others learn of it. */
#ifndef DSM_SYNC_NOTICES_H
#define DSM_SYNC_NOTICES_H

#include "dsm/base/space.h"

/* What was written since the last time goes to the end of the own log. */
void notices_append(ddsm_t *d);
/* What this rank brings to a barrier. */
void notices_summarize(const ddsm_t *d, struct arrival *arrival);
/* Copies that @rank's log names up to @head become invalid. No page is dirty.
 * @arrival: of that rank, with that head; or NULL. */
int notices_apply(ddsm_t *d, unsigned rank, uint64_t head,
                  const struct arrival *arrival);

#endif

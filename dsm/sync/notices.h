/* SPDX-License-Identifier: BSD-3-Clause */
/* Write notices: each rank logs the pages that it has written; other ranks
 * invalidate their copies of them. */
#ifndef DSM_SYNC_NOTICES_H
#define DSM_SYNC_NOTICES_H

#include "dsm/base/space.h"

/* Appends the pages of ddsm.written to this rank's log. */
void notices_append(ddsm_t *d);
/* Fills in this rank's message of a barrier, after claims_make(): as much of
 * the end of the log as there is room for before arrival.range[@end]. */
void notices_summarize(const ddsm_t *d, struct arrival *arrival, uint32_t end);
/* Invalidates the copies that @rank's log names from ddsm.vector_clock up to
 * @head. Changes of dirty pages among them go home first. @arrival: that
 * rank's, with that head, or NULL; if it has all ranges that are missing, the
 * log is not read. */
int notices_apply(ddsm_t *d, unsigned rank, uint64_t head,
                  const struct arrival *arrival);
/* Invalidates all copies of DDSM_OPEN pages: their homes write no notices. */
int notices_end_visits(ddsm_t *d);

#endif

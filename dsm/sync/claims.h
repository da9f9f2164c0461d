/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Homes that move. A rank that has written a DDSM_MOVING page again and again
 * claims it in its arrival at a barrier, whether it has released the writes
 * before or not. If no other rank claims the page, all
 * ranks then take the claimer for its home and drop their copies; there it is
 * exclusive (exclusive.h). All ranks decide alike, from the same arrivals.
 *
 * The first change takes one interval with writes, each later one twice as many
 * as the one before, at most 64. A claim that others contest counts as a change
 * at the ranks that have made it. So a page that several ranks write soon stays
 * where it is, and its claims leave room for those of other pages.
 */
#ifndef DSM_SYNC_CLAIMS_H
#define DSM_SYNC_CLAIMS_H

#include "dsm/base/space.h"

/* Fills in this rank's claims. Call it before notices_append(). */
void claims_make(ddsm_t *d, struct arrival *arrival);
/* After the arrivals have been exchanged and all notices applied: new homes
 * fetch what they lack, all ranks meet if there are such, and change homes. */
int claims_settle(ddsm_t *d);

#endif

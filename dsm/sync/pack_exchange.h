/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings packs (pack.h) home. */
#ifndef DSM_SYNC_PACK_EXCHANGE_H
#define DSM_SYNC_PACK_EXCHANGE_H

#include "dsm/base/space.h"

/* After the arrivals have been exchanged, and before notices are applied: if a
 * rank has a pack, carries out this rank's parts of all packs, and meets the
 * other ranks. */
int pack_exchange(ddsm_t *d);
/* Elsewhere: asks the homes to carry out this rank's pack, and waits until they
 * have. Other threads of the rank wait, too: they must not write home newer
 * changes before. */
int pack_deliver(ddsm_t *d);

#endif

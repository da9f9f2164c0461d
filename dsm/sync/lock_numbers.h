/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of locks for words that name locks (lock_at.c). */
#ifndef DSM_SYNC_LOCK_NUMBERS_H
#define DSM_SYNC_LOCK_NUMBERS_H

#include "dsm/base/space.h"

/* A number that no word has. DRAIL_ENOMEM: none is left. */
int lock_numbers_take(ddsm_t *d, uint32_t *number);
/* No word has it any more. */
void lock_numbers_give(ddsm_t *d, uint32_t number);

#endif

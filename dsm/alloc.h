/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DSM_ALLOC_H
#define DSM_ALLOC_H

#include "dsm/base/space.h"

/* Takes the next pages of the space, with their homes. */
int alloc_pages(ddsm_t *d, size_t bytes, const ddsm_place_t *place,
                size_t *first, size_t *pages);
/* Gives them their first state and protection. */
int alloc_begin(ddsm_t *d, size_t first, size_t count);

#endif

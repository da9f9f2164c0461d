/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DSM_ALLOC_H
#define DSM_ALLOC_H

#include "dsm/base/space.h"

/* Takes the next pages of the space, with their homes. */
int alloc_pages(ddsm_t *d, size_t bytes, const ddsm_place_t *place,
                size_t *first, size_t *pages);
/* The home of the @page-th page of an allocation of @pages. */
unsigned alloc_home(const ddsm_t *d, const ddsm_place_t *place, size_t page,
                    size_t pages);
/* Adds to ddsm.shape what all ranks must have given alike. */
void alloc_shape_add(ddsm_t *d, uint64_t word);
/* Gives them their first state and protection. */
int alloc_begin(ddsm_t *d, size_t first, size_t count);
/* The pages of a range; none if it is empty. False: it is not allocated, or not
 * in one mapping. */
bool alloc_find(const ddsm_t *d, const char *start, size_t bytes, size_t *first,
                size_t *count);

#endif

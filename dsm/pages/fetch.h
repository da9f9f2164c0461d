/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings pages from their homes. */
#ifndef DSM_PAGES_FETCH_H
#define DSM_PAGES_FETCH_H

#include "dsm/base/space.h"

/* All invalid pages of a range are clean afterwards. */
int fetch(ddsm_t *d, size_t first, size_t count);
/* Of a fault: the page, and those after it that are likely to be next. */
int fetch_ahead(ddsm_t *d, size_t page);

#endif

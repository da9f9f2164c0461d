/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetches pages from their homes. */
#ifndef DSM_PAGES_FETCH_H
#define DSM_PAGES_FETCH_H

#include "dsm/base/space.h"

/* Makes all invalid pages of a range clean. */
int fetch(ddsm_t *d, size_t first, size_t count);
/* The same of a read fault: the page, and invalid pages of the same home beside
 * it that are likely to be read next. */
int fetch_ahead(ddsm_t *d, size_t page);
/* Makes all invalid pages of a sorted list clean, or only held (history.h). */
int fetch_list(ddsm_t *d, const struct page_list *list, bool held);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* States of pages, and how the view is protected after them. */
#ifndef DSM_PAGES_PAGES_H
#define DSM_PAGES_PAGES_H

#include "dsm/base/space.h"

/* 0, or DRAIL_ENOMEM when the kernel has no room for so many pieces of a
 * mapping. */
int pages_set(ddsm_t *d, size_t first, size_t count, enum page_state state);
/* Makes clean pages dirty, which are about to be written. */
int pages_make_dirty(ddsm_t *d, size_t first, size_t count);
/* Of a fault: the page, and those after it that are likely to be next; whether
 * they have been written is found out when they are flushed. */
int pages_make_dirty_ahead(ddsm_t *d, size_t page);
/* The stream that a fault belongs to, or a new one in the place of the oldest.
 */
struct ahead *pages_stream(struct streams *streams, size_t page);
/* Where a run of pages from @page on may end, after the faults before. */
size_t pages_readahead_end(const ddsm_t *d, struct ahead *ahead, size_t page);
/* In ascending order. */
void pages_sort(struct page_list *list);
/* How many from entry @from on follow one another. */
size_t pages_run(const struct page_list *list, size_t from);

#endif

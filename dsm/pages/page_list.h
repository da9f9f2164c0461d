/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of pages. */
#ifndef DSM_PAGES_PAGE_LIST_H
#define DSM_PAGES_PAGE_LIST_H

#include "dsm/base/space.h"

/* Into ascending order; and each page once. */
void pages_sort(struct page_list *list);
void pages_unique(struct page_list *list);
/* How many entries from @from on are adjacent pages. */
size_t pages_run(const struct page_list *list, size_t from);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* States of pages, and the protection of the view. */
#ifndef DSM_PAGES_PAGES_H
#define DSM_PAGES_PAGES_H

#include "dsm/base/space.h"

/* Sets state and protection. DRAIL_ENOMEM: the kernel has no room for one more
 * mapping; see coalesce.h. */
int pages_set(ddsm_t *d, size_t first, size_t count, enum page_state state);
/* Makes those pages of a range, or of a sorted list, that are clean writable,
 * with twins of those whose home is elsewhere. */
int pages_make_range_dirty(ddsm_t *d, size_t first, size_t count);
int pages_make_list_dirty(ddsm_t *d, const struct page_list *list);
/* The same of a write fault: the page, and clean pages beside it that are
 * likely to be written next. A flush finds those that were not. Sets which
 * these are.
 */
int pages_make_dirty_ahead(ddsm_t *d, size_t page, size_t *first,
                           size_t *count);
/* Puts the page into the next notices. */
void pages_notice(ddsm_t *d, size_t page);
/* The same, and this rank has written it in this interval. */
void pages_announce(ddsm_t *d, size_t page);
/* Counts intervals with plain writes of this rank in page.writes: each once,
 * however often the rank releases. */
void pages_count_write(ddsm_t *d, size_t page);
/* Counts in page.changes, and begins page.writes anew. */
void pages_count_change(struct page *page);
/* Remembers copies of DDSM_OPEN pages, until notices_end_visits(). */
void pages_visit(ddsm_t *d, size_t first, size_t count);

#endif

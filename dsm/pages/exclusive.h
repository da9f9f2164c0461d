/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exclusive pages: no other rank has a copy. Such a page stays writable at its
 * home over all flushes: no faults, no notices. All ranks know which pages may
 * be exclusive (page.exclusive). A rank that fetches one first sets the page's
 * byte in control.copied of the home, then the byte of the page's block, and
 * both have arrived before it reads the page. At each flush the home looks at
 * the bytes of blocks, and at those of pages where a block's is set.
 *
 * So nothing is missed. Either the home sees the byte: it announces the page,
 * and tracks its writes from then on. Or the byte came later: then the page was
 * read later, too, with all that the home had written before this flush.
 */
#ifndef DSM_PAGES_EXCLUSIVE_H
#define DSM_PAGES_EXCLUSIVE_H

#include "dsm/base/space.h"

enum {
    COPIED_ONES = 4096,
    COPIED_BLOCK = 4096, /* pages that share a byte of control.copied_blocks */
};

/* Tells homes which of their exclusive pages this rank is about to fetch, of
 * the invalid ones in a range. */
int exclusive_tell(ddsm_t *d, size_t first, size_t end);
/* Ends exclusiveness of this rank's pages that others have fetched. Not while
 * claims are settled: a rank that has left the barrier may have set the byte of
 * a page that becomes exclusive only now. Fails as pages_set(). */
int exclusive_look(ddsm_t *d);
/* Ends it for a page of this rank that others may have fetched. The page is to
 * be protected before the next notices. */
void exclusive_announce(ddsm_t *d, size_t page);

#endif

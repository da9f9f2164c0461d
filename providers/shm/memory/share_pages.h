/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves pages of private memory into a memfd, where peers can map them, and
 * back. Other threads may read and write the memory meanwhile. */
#ifndef DAPL_SHM_SHARE_PAGES_H
#define DAPL_SHM_SHARE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shm_shared_pages {
    uint64_t base, length; /* whole pages */
    int fd;                /* the memfd; `base` is at offset 0 */
    dev_t device;
    ino_t inode;
    char *aside; /* the private mapping, empty meanwhile; NULL: none yet */
};

/* NULL: this process can move pages; else the reason why it can't. */
const char *shm_share_refused(void);
/* Moves whole pages of one private anonymous mapping into a new memfd.
 * 0: done. -1: the pages can't be moved, and are as before. 1: only some pages
 * have been moved, and can't be moved back now: call shm_unshare_pages() later.
 * The call writes only *pages and these pages: *pages must not lie there. */
int shm_share_pages(struct shm_shared_pages *pages, uint64_t base,
                    uint64_t length);
/* Moves back the pages that are still mapped from the memfd, and closes it.
 * Peers must not access it any more. -1: the kernel refuses that now, for lack
 * of memory or mappings, for instance; the call may be made again. */
int shm_unshare_pages(struct shm_shared_pages *pages);
/* Are all pages from @p from up to @p to still mapped from the memfd? */
bool shm_pages_are_shared(const struct shm_shared_pages *pages, uint64_t from,
                          uint64_t to);
/* Forgets them in a forked child, which does not have these pages. Keeps their
 * addresses from being used again. */
void shm_shared_pages_forked(const struct shm_shared_pages *pages);
/* In a forked child: closes descriptors that refer to its parent's memory. */
void shm_sharing_forked(void);

#endif

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
    char *aside; /* their own mapping, empty meanwhile; NULL: none yet */
};

/* NULL: this process can do it; else why it can't. */
const char *shm_share_refused(void);
/* Whole pages of one private anonymous mapping. 0; -1: they can't be moved, and
 * are as before; 1: only some were moved, and can't be moved back now: call
 * shm_unshare_pages() again later. Meanwhile, nothing but *pages and base to
 * base + length is written: *pages must not lie there. */
int shm_share_pages(struct shm_shared_pages *pages, uint64_t base,
                    uint64_t length);
/* Moves those back that are still mapped from the memfd, and closes it. Peers
 * must not access it any more. -1: the kernel refuses that now, for lack
 * of memory or mappings, for instance; the call may be made again. */
int shm_unshare_pages(struct shm_shared_pages *pages);
/* Are those from @p from up to @p to still mapped from it, all of them? */
bool shm_pages_are_shared(const struct shm_shared_pages *pages, uint64_t from,
                          uint64_t to);
/* Forgets them in a forked child, which has no such pages: nothing else is
 * mapped in their place any more. */
void shm_shared_pages_forked(const struct shm_shared_pages *pages);
/* In a forked child, too: what was kept open belongs to its parent's memory. */
void shm_sharing_forked(void);

#endif

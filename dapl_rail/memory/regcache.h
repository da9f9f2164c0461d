/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DRAIL_REGCACHE_H
#define DRAIL_REGCACHE_H

#include "dapl_rail/memory/region.h"

/* Each leaves the region with one more user. */
void cache_insert(drail_t *t, struct region *region);
struct region *cache_find(drail_t *t, const void *address, size_t bytes,
                          unsigned access);
void cache_share(struct region *region);
/* 0, or an error: then it was the last user, and still is. */
int cache_release(struct region *region);

#endif

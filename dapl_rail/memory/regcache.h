/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DRAIL_REGCACHE_H
#define DRAIL_REGCACHE_H

#include "dapl_rail/memory/region.h"

void cache_insert(drail_t *t, struct region *region);
/* A region of which a view is to be made at once, or NULL. */
struct region *cache_find(drail_t *t, const void *address, size_t bytes,
                          unsigned access);
/* One of drail_mem_alloc that has at least this access, or NULL. */
struct region *cache_find_allocated(drail_t *t, const void *address,
                                    size_t bytes, unsigned access);
/* Frees the view; or an error: then it was the last, and is there still. */
int cache_release(drail_mem_t *view);

#endif

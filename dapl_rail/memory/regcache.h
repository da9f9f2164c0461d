/* SPDX-License-Identifier: BSD-3-Clause */
/* The registration cache; regcache.c has its rules. */
#ifndef DRAIL_REGCACHE_H
#define DRAIL_REGCACHE_H

#include "dapl_rail/memory/region.h"

void cache_insert(drail_t *t, struct region *region);
/* A region for this range and access, or NULL. The caller makes a view of it at
 * once. */
struct region *cache_find(drail_t *t, const void *address, size_t bytes,
                          unsigned access);
/* A region of drail_mem_alloc() of which a view covers the range and allows at
 * least this access, or NULL. */
struct region *cache_find_allocated(drail_t *t, const void *address,
                                    size_t bytes, unsigned access);
/* Frees the view. An error: it was the last one, its region could not be freed
 * (see region_deregister), and the view still exists. */
int cache_release(drail_mem_t *view, bool waits);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region for local access serves every local range within it. A region for
 * remote access serves only its own range and access, because its keys grant
 * all of it as long as it lives. A region lives as long as it has users
 * (views). Without users it is kept only if the caller promised to keep the
 * memory mapped (DRAIL_ACCESS_KEEP). Nothing tells the library when an address
 * gets another mapping, and an old registration would then move the bytes of
 * the old mapping. So without that promise a region serves only while a view
 * covers all of it.
 */
#include <stdlib.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/memory/regcache.h"

static void unlink_region(struct region *region)
{
    region->prev->next = region->next;
    region->next->prev = region->prev;
}

static void link_first(struct cache *cache, struct region *region)
{
    region->next = cache->head.next;
    region->prev = &cache->head;
    region->next->prev = region;
    cache->head.next = region;
}

/* Does the region serve drail_mem_register() of this range? */
static bool serves(const struct region *region, const void *address,
                   size_t bytes, unsigned access)
{
    unsigned remote = access & DRAIL_ACCESS_ALL;
    if (region->stale || region->closed ||
        !range_covers(region->address, region->bytes, (uintptr_t)address,
                      bytes) ||
        access & ~region->access ||
        (region->access & DRAIL_ACCESS_ALL) != remote)
        return false;
    return !remote || (region->address == address && region->bytes == bytes);
}

static bool is_viewed(const struct region *region, const void *address,
                      size_t bytes, unsigned access)
{
    const drail_mem_t *view = region->views;
    while (view && (!view_covers(view, (uintptr_t)address, bytes) ||
                    access & ~view->access))
        view = view->next;
    return view;
}

struct region *cache_find_allocated(drail_t *t, const void *address,
                                    size_t bytes, unsigned access)
{
    struct region *region = t->cache->head.next;
    for (; region != &t->cache->head; region = region->next)
        if (region->ours && is_viewed(region, address, bytes, access))
            return region;
    return NULL;
}

int cache_open(drail_t *t)
{
    t->cache = calloc(1, sizeof *t->cache);
    if (!t->cache)
        return DRAIL_ENOMEM;
    t->cache->head.next = t->cache->head.prev = &t->cache->head;
    return 0;
}

void cache_insert(drail_t *t, struct region *region)
{
    link_first(t->cache, region);
    t->cache->stats.misses++;
}

struct region *cache_find(drail_t *t, const void *address, size_t bytes,
                          unsigned access)
{
    struct cache *cache = t->cache;
    struct region *region = cache->head.next;
    for (; region != &cache->head; region = region->next) {
        if (!serves(region, address, bytes, access))
            continue;
        cache->stats.hits++;
        if (!region->views)
            cache->stats.kept--;
        unlink_region(region);
        link_first(cache, region);
        return region;
    }
    return NULL;
}

static int drop(struct region *region, bool waits)
{
    region->stale = true;
    /* if it stays, its views can only be released again */
    for (drail_mem_t *view = region->views; view; view = view->next)
        view->bytes = view->access = 0;
    int rc = region_deregister(region, waits);
    if (rc)
        return rc;
    unlink_region(region);
    region_free(region);
    return 0;
}

/* Also tries again to free stale regions. */
static void evict_oldest(struct cache *cache)
{
    struct region *region = cache->head.prev, *next;
    bool done = false;
    for (; region != &cache->head; region = next) {
        next = region->prev;
        if (region->views || (done && !region->stale))
            continue;
        if (!region->stale) {
            cache->stats.kept--;
            cache->stats.evictions++;
            done = true;
        }
        drop(region, true);
    }
}

bool region_ends(const struct region *region)
{
    bool keep =
        region->access & DRAIL_ACCESS_KEEP && region->owner->env.cache_regions;
    return region->views && !region->views->next && (region->stale || !keep);
}

static void unlink_view(drail_mem_t *view)
{
    drail_mem_t **at = &view->region->views;
    while (*at != view)
        at = &(*at)->next;
    *at = view->next;
}

static bool is_used_whole(const struct region *region)
{
    return region->views && region->views->bytes == region->bytes;
}

int cache_release(drail_mem_t *view, bool waits)
{
    struct region *region = view->region;
    drail_t *t = region->owner;
    bool mapped = region->access & DRAIL_ACCESS_KEEP;
    bool last = region->views == view && !view->next;
    if (region_ends(region))
        return drop(region, waits);
    unlink_view(view);
    free(view);
    if (!last) {
        region->closed = !mapped && !is_used_whole(region);
        return 0;
    }
    t->cache->stats.kept++;
    if (t->cache->stats.kept > t->env.cache_regions)
        evict_oldest(t->cache);
    return 0;
}

void regions_free(drail_t *t)
{
    struct region *region;
    while (t->cache && (region = t->cache->head.next) != &t->cache->head) {
        if (!drop(region, true))
            continue;
        /* a peer is still inside: the memory stays mapped */
        unlink_region(region);
        region_forget(region);
    }
    free(t->cache);
    t->cache = NULL;
}

/* The key of a stale region may belong to another one by now. */
bool key_grants(const drail_t *t, unsigned rail, DAT_RMR_CONTEXT key,
                uint64_t address, size_t bytes, unsigned access)
{
    const struct region *region = t->cache->head.next;
    while (region != &t->cache->head &&
           (region->rmr_context[rail] != key || region->stale))
        region = region->next;
    const drail_mem_t *view = region->views;
    while (view &&
           !(view->access & access && view_covers(view, address, bytes)))
        view = view->next;
    return view;
}

void drail_cache_stats(const drail_t *t, drail_cache_stats_t *stats)
{
    *stats = t->cache->stats;
}

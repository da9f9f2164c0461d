/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration cache. A region serves every range within it whose access it
 * grants. With users it is only shared; without, it stays only if its owner
 * promised to keep the memory mapped (DRAIL_ACCESS_KEEP): nothing tells us
 * when an address gets another mapping, and a stale registration would move
 * the bytes of the old one.
 */
#include "dapl_rail/handle.h"
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

static bool covers(const struct region *region, const void *address,
                   size_t bytes, unsigned access)
{
    uintptr_t begin = (uintptr_t)region->address, at = (uintptr_t)address;
    return at >= begin && bytes <= region->bytes &&
           at - begin <= region->bytes - bytes && !(access & ~region->access);
}

void cache_insert(drail_t *t, struct region *region)
{
    region->users = 1;
    link_first(&t->cache, region);
    t->cache.stats.misses++;
}

struct region *cache_find(drail_t *t, const void *address, size_t bytes,
                          unsigned access)
{
    struct cache *cache = &t->cache;
    struct region *region = cache->head.next;
    for (; region != &cache->head; region = region->next) {
        if (!covers(region, address, bytes, access))
            continue;
        cache->stats.hits++;
        if (region->users++ == 0)
            cache->stats.kept--;
        unlink_region(region);
        link_first(cache, region);
        return region;
    }
    return NULL;
}

static void drop(struct region *region)
{
    unlink_region(region);
    region_destroy(region);
}

static void evict_oldest(struct cache *cache)
{
    struct region *region = cache->head.prev;
    while (region != &cache->head && region->users)
        region = region->prev;
    if (region == &cache->head)
        return;
    cache->stats.kept--;
    cache->stats.evictions++;
    drop(region);
}

void cache_release(struct region *region)
{
    drail_t *t = region->owner;
    if (--region->users)
        return;
    if (!(region->access & DRAIL_ACCESS_KEEP) || !t->tuning.cache_regions) {
        drop(region);
        return;
    }
    t->cache.stats.kept++;
    if (t->cache.stats.kept > t->tuning.cache_regions)
        evict_oldest(&t->cache);
}

void regions_free(drail_t *t)
{
    while (t->cache.head.next && t->cache.head.next != &t->cache.head)
        drop(t->cache.head.next);
}

struct region *region_of_key(drail_t *t, unsigned rail, DAT_RMR_CONTEXT key,
                             uint64_t address, size_t bytes)
{
    struct region *region = t->cache.head.next;
    for (; region != &t->cache.head; region = region->next)
        if (region->rmr_context[rail] == key &&
            covers(region, (const void *)(uintptr_t)address, bytes,
                   DRAIL_ACCESS_REMOTE_ATOMIC))
            return region;
    return NULL;
}

void drail_cache_stats(const drail_t *t, drail_cache_stats_t *stats)
{
    *stats = t->cache.stats;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory, in reading order: region.h, region.c (a range with one LMR
 * per rail), regcache.h, regcache.c (which regions are kept and shared), mem.c
 * (the public calls; a drail_mem_t is a view of a region).
 */
#ifndef DRAIL_MEMORY_REGION_H
#define DRAIL_MEMORY_REGION_H

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

/* Together with DRAIL_ACCESS_…, in regions without DRAIL_ACCESS_READ_ONLY. So
 * rights only add up: a region serves requests that need no more than it has.
 */
#define ACCESS_LOCAL_WRITE 32u

/* A registered range; drail_mem_t are views of it. */
struct region {
    struct region *next, *prev; /* most recently used first */
    drail_t *owner;
    unsigned char *address;
    size_t bytes;
    unsigned access; /* rights: DRAIL_ACCESS_… and ACCESS_LOCAL_WRITE */
    struct drail_mem *views; /* its users */
    bool stale;              /* some LMRs are freed: it can only be released */
    bool closed; /* a part may be mapped anew: it serves no new request */
    bool ours;   /* allocated by the library, … */
    int fd;      /* … as this file, or -1 */
    unsigned nrails;
    DAT_LMR_HANDLE lmr[DRAIL_MAX_RAILS];
    DAT_LMR_CONTEXT lmr_context[DRAIL_MAX_RAILS];
    DAT_RMR_CONTEXT rmr_context[DRAIL_MAX_RAILS];
};

struct drail_mem {
    struct drail_mem *next; /* view of the region */
    struct region *region;
    unsigned char *address;
    size_t bytes;
    unsigned access; /* as the caller asked */
};

static inline bool range_covers(const unsigned char *begin, size_t length,
                                uint64_t address, size_t bytes)
{
    uint64_t first = (uintptr_t)begin;
    return address >= first && bytes <= length &&
           address - first <= length - bytes;
}

static inline bool view_covers(const drail_mem_t *view, uint64_t address,
                               size_t bytes)
{
    return range_covers(view->address, view->bytes, address, bytes);
}

struct cache {
    struct region head; /* ring of all regions */
    drail_cache_stats_t stats;
};

/* One LMR per rail. */
int region_register(struct region *region);
/* Frees its LMRs; if it waits, a provider may wait for peers that are inside.
 * An error: some are left, as peers may be inside. */
int region_deregister(struct region *region, bool waits);
/* Frees it with its views, and unmaps memory of the library. */
void region_free(struct region *region);
/* The same, but the memory stays mapped. */
void region_forget(struct region *region);

/* Maps shared memory that a provider of this host can map, too, and its file;
 * in a simulation private memory, with fd -1. 0 or errno. */
int memory_map(const drail_t *t, size_t bytes, void **address, int *fd);
/* May a peer with this key access these bytes? Only within a view that allows
 * it: other parts of the region may be unmapped. */
bool key_grants(const drail_t *t, unsigned rail, DAT_RMR_CONTEXT key,
                uint64_t address, size_t bytes, unsigned access);
/* Does the next release end the registration? If not, it has other users, or is
 * kept. */
bool region_ends(const struct region *region);
int cache_open(drail_t *t);
/* Frees all regions, when all connections are gone. */
void regions_free(drail_t *t);

#endif

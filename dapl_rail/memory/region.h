/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory. */
#ifndef DRAIL_MEMORY_REGION_H
#define DRAIL_MEMORY_REGION_H

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

/* Beside DRAIL_ACCESS_…, in a region without DRAIL_ACCESS_READ_ONLY: rights add
 * up, and a region serves whoever needs no more than it has. */
#define ACCESS_LOCAL_WRITE 32u

/* A registered range; drail_mem_t are views of it. */
struct region {
    struct region *next, *prev; /* most recently used first */
    drail_t *owner;
    unsigned char *address;
    size_t bytes;
    unsigned access; /* rights: DRAIL_ACCESS_… and ACCESS_LOCAL_WRITE */
    struct drail_mem *views; /* its users */
    bool stale;  /* some of its LMRs are gone: it only waits for its end */
    bool closed; /* other memory may be in a part of it: for nobody new */
    bool ours;   /* we have allocated it, … */
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
    unsigned access; /* that the view asked for */
};

struct cache {
    struct region head; /* ring of all regions */
    drail_cache_stats_t stats;
};

/* One LMR per rail. */
int region_register(struct region *region);
/* Frees what LMRs it can: 0, or an error with those left that peers
 * may be inside. */
int region_deregister(struct region *region);
/* With its views; unmaps what is ours. */
void region_free(struct region *region);
/* The same, but the memory stays mapped. */
void region_forget(struct region *region);

/* Shared memory that a provider of this host can map, with its file; or, where
 * all ranks are of one process, memory without one (fd -1). errno or 0. */
int memory_map(const drail_t *t, size_t bytes, void **address, int *fd);
/* May a peer with this key reach so many bytes there? Only where a handle with
 * this access is left: the rest of a region may be unmapped. */
bool key_grants(const drail_t *t, unsigned rail, DAT_RMR_CONTEXT key,
                uint64_t address, size_t bytes, unsigned access);
/* Does the registration end with its next release? Else it has other users, or
 * is kept. */
bool region_ends(const struct region *region);
int cache_open(drail_t *t);
/* Once all connections are gone. */
void regions_free(drail_t *t);

#endif

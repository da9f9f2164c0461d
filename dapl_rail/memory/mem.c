/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on memory. A handle is a view of a region; the cache in
 * regcache.c owns the regions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/memory/regcache.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/platform/memfd.h"

/* Takes over fd, and the memory if it is ours, also after a failure. */
static int region_create(drail_t *t, void *address, size_t bytes,
                         unsigned rights, bool ours, int fd,
                         struct region **out)
{
    struct region *region = calloc(1, sizeof *region);
    if (!region) {
        if (ours)
            munmap(address, bytes);
        if (fd >= 0)
            close(fd);
        return fail(t, DRAIL_ENOMEM, "out of memory");
    }
    region->owner = t;
    region->address = address;
    region->bytes = bytes;
    region->access = rights;
    region->ours = ours;
    region->fd = fd;
    int rc = region_register(region);
    if (rc) {
        region_deregister(region, true); /* no peer has had a key */
        region_free(region);
        return rc;
    }
    cache_insert(t, region);
    *out = region;
    return 0;
}

/* The caller opens or frees it. */
static drail_mem_t *view_alloc(drail_t *t)
{
    drail_mem_t *view = malloc(sizeof *view);
    if (!view)
        fail(t, DRAIL_ENOMEM, "out of memory");
    return view;
}

/* Views of the whole region come first: most checks of key_grants() end there.
 */
static void view_open(drail_mem_t *view, struct region *region, void *address,
                      size_t bytes, unsigned access)
{
    drail_mem_t **at = &region->views;
    while (bytes < region->bytes && *at && (*at)->bytes == region->bytes)
        at = &(*at)->next;
    *view = (drail_mem_t){.next = *at,
                          .region = region,
                          .address = address,
                          .bytes = bytes,
                          .access = access & DRAIL_ACCESS_ALL};
    *at = view;
}

/* For simulated ranks: they share one process's limits of files and maps. */
static int memory_of_process(size_t bytes, void **address)
{
    *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return *address == MAP_FAILED ? errno : 0;
}

int memory_map(const drail_t *t, size_t bytes, void **address, int *fd)
{
    int error;
    *fd = -1;
    if (platform_is_simulated(t->job->platform))
        return memory_of_process(bytes, address);
    *fd = memfd_sealed("drail", bytes);
    if (*fd < 0)
        return errno;
    *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (*address != MAP_FAILED) {
        /* only a hint; pages of shared memory may not be eligible */
        madvise(*address, bytes, MADV_HUGEPAGE);
        return 0;
    }
    error = errno;
    close(*fd);
    *fd = -1;
    return error;
}

/* The rights that the caller's access flags mean. False: unknown or
 * contradictory flags. */
static bool rights_of(unsigned access, unsigned *rights)
{
    const bool read_only = access & DRAIL_ACCESS_READ_ONLY;
    const unsigned known = read_only
                               ? DRAIL_ACCESS_REMOTE_READ | DRAIL_ACCESS_KEEP |
                                     DRAIL_ACCESS_READ_ONLY
                               : DRAIL_ACCESS_ALL | DRAIL_ACCESS_KEEP;
    *rights = read_only ? access & ~(unsigned)DRAIL_ACCESS_READ_ONLY
                        : access | ACCESS_LOCAL_WRITE;
    return !(access & ~known);
}

int drail_mem_alloc(drail_t *t, size_t bytes, unsigned access, void **address,
                    drail_mem_t **mem)
{
    struct region *region = NULL;
    unsigned rights;
    void *start;
    int fd;
    if (!t)
        return DRAIL_EINVAL;
    if (!bytes || bytes > SIZE_MAX / 2 || !address || !mem ||
        access & DRAIL_ACCESS_READ_ONLY || !rights_of(access, &rights))
        return fail(t, DRAIL_EINVAL, "drail_mem_alloc: %zu bytes, access 0x%x",
                    bytes, access);
    drail_mem_t *view = view_alloc(t);
    if (!view)
        return DRAIL_ENOMEM;
    int error = memory_map(t, bytes, &start, &fd);
    int rc = error ? fail(t, DRAIL_ENOMEM, "no memory for %zu bytes: %s", bytes,
                          strerror(error))
                   : region_create(t, start, bytes,
                                   rights & ~(unsigned)DRAIL_ACCESS_KEEP, true,
                                   fd, &region);
    if (rc) {
        free(view);
        return rc;
    }
    view_open(view, region, start, bytes, access);
    *mem = view;
    *address = start;
    return 0;
}

int drail_mem_register(drail_t *t, void *address, size_t bytes, unsigned access,
                       drail_mem_t **mem)
{
    struct region *region;
    unsigned rights;
    if (!t)
        return DRAIL_EINVAL;
    if (!address || !bytes || !mem ||
        bytes > UINTPTR_MAX - (uintptr_t)address || !rights_of(access, &rights))
        return fail(t, DRAIL_EINVAL,
                    "drail_mem_register: %zu bytes, access 0x%x", bytes,
                    access);
    drail_mem_t *view = view_alloc(t);
    if (!view)
        return DRAIL_ENOMEM;
    region = cache_find(t, address, bytes, rights);
    int rc = region
                 ? 0
                 : region_create(t, address, bytes, rights, false, -1, &region);
    if (rc) {
        free(view);
        return rc;
    }
    view_open(view, region, address, bytes, access);
    *mem = view;
    return 0;
}

int drail_mem_view(drail_mem_t *mem, void *address, size_t bytes,
                   drail_mem_t **view)
{
    if (!mem)
        return DRAIL_EINVAL;
    drail_t *t = mem->region->owner;
    if (!view || !bytes || !view_covers(mem, (uintptr_t)address, bytes))
        return fail(t, DRAIL_EINVAL,
                    "drail_mem_view: %zu bytes are not within the memory",
                    bytes);
    *view = view_alloc(t);
    if (!*view)
        return DRAIL_ENOMEM;
    view_open(*view, mem->region, address, bytes, mem->access);
    return 0;
}

drail_mem_t *drail_mem_find(drail_t *t, const void *address, size_t bytes,
                            unsigned access)
{
    struct region *region =
        t && bytes
            ? cache_find_allocated(t, address, bytes, access & DRAIL_ACCESS_ALL)
            : NULL;
    drail_mem_t *view = region ? view_alloc(t) : NULL;
    if (view)
        view_open(view, region, (void *)address, bytes, access);
    return view;
}

int drail_mem_release(drail_mem_t *mem)
{
    return mem ? cache_release(mem, true) : DRAIL_EINVAL;
}

int drail_mem_try_release(drail_mem_t *mem)
{
    return mem ? cache_release(mem, false) : DRAIL_EINVAL;
}

void drail_mem_key(const drail_mem_t *mem, drail_key_t *key)
{
    const struct region *region = mem->region;
    memset(key, 0, sizeof *key);
    key->address = (uintptr_t)mem->address;
    key->bytes = mem->bytes;
    if (!mem->access)
        return; /* the region may be shared with a view that grants more */
    key->nrails = region->nrails;
    for (unsigned r = 0; r < region->nrails; r++)
        key->rmr_context[r] = region->rmr_context[r];
}

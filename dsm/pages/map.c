/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/map.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/platform/memfd.h"
#include "dsm/pages/huge.h"

/* A hint for views: far from where the loader and the heap map, so likely to
 * be free on all ranks. */
#define LIKELY ((void *)0x200000000000)

static void *reserve(void *hint, size_t bytes, int flags)
{
    void *p = mmap(hint, bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Aligned to the space's pages and to huge pages of the kernel. */
static char *reserve_aligned(void *hint, size_t bytes, size_t page)
{
    const size_t align = page > HUGE_BYTES ? page : HUGE_BYTES;
    char *p = reserve(hint, bytes + align, 0);
    if (!p)
        return NULL;
    char *start = (char *)(((uintptr_t)p + align - 1) & ~(align - 1));
    if (start > p)
        munmap(p, (size_t)(start - p));
    if (start < p + align)
        munmap(start + bytes, (size_t)(p + align - start));
    return start;
}

bool map_reserve(ddsm_t *d, void *there)
{
    char *p = there ? reserve(there, d->bytes, MAP_FIXED_NOREPLACE)
                    : reserve_aligned(LIKELY, d->bytes, page_bytes(d));
    if (p && there && p != there) { /* kernels before 4.17 take it for a hint */
        munmap(p, d->bytes);
        p = NULL;
    }
    d->view = p;
    return p;
}

/* Frees the addresses of the view. */
static void release(ddsm_t *d)
{
    if (d->view)
        munmap(d->view, d->bytes);
    d->view = NULL;
}

/* Whole blocks of 2 MiB, so that huge.c can use the last one, too. */
size_t map_bytes(const ddsm_t *d)
{
    return (d->bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
}

int map_make_file(ddsm_t *d, size_t behind)
{
    d->fd = memfd_sealed("ddsm", map_bytes(d) + behind);
    return d->fd >= 0 ? 0 : errno;
}

void map_drop_file(ddsm_t *d)
{
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}

/* Memory is taken only for pages that are written. */
static int make_twins(ddsm_t *d)
{
    void *twins = mmap(NULL, d->bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (twins == MAP_FAILED)
        return errno;
    d->twins = twins;
    return madvise(d->twins, d->bytes, MADV_DONTFORK) ? errno : 0;
}

int map_open(ddsm_t *d)
{
    int error = d->fd < 0 ? map_make_file(d, 0) : 0;
    if (!error) {
        d->store = reserve_aligned(NULL, map_bytes(d), page_bytes(d));
        if (!d->store || mmap(d->store, map_bytes(d), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, d->fd, 0) == MAP_FAILED)
            error = errno;
        else if (mmap(d->view, d->bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
                      d->fd, 0) == MAP_FAILED)
            error = errno;
    }
    /* a forked child must not write to the parent's pages */
    if (!error && (madvise(d->view, d->bytes, MADV_DONTFORK) ||
                   madvise(d->store, map_bytes(d), MADV_DONTFORK)))
        error = errno;
    if (!error && !d->is_shared)
        error = make_twins(d);
    return error ? space_fail(d, DRAIL_ENOMEM, "no memory for %zu bytes: %s",
                              d->bytes, strerror(error))
                 : 0;
}

void map_close(ddsm_t *d)
{
    if (d->store)
        munmap(d->store, map_bytes(d));
    if (d->twins)
        munmap(d->twins, d->bytes);
    map_drop_file(d);
    release(d);
}

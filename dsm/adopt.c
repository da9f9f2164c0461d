/* SPDX-License-Identifier: BSD-3-Clause */
/* ddsm_adopt: memory that the program has already becomes part of the space, at
 * its address. */
#include "dsm/adopt.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dsm/alloc.h"
#include "dsm/base/enter.h"
#include "dsm/pages/fetch.h"
#include "dsm/pages/handler.h"

/* To memory that is zero: a page of zeros takes none. */
static void copy_page(char *to, const char *from, size_t bytes)
{
    const bool is_zero = !*from && !memcmp(from, from + 1, bytes - 1);
    if (!is_zero)
        memcpy(to, from, bytes);
}

static void copy_in(ddsm_t *d, size_t first, size_t count, const char *from,
                    const ddsm_place_t *place)
{
    const size_t bytes = page_bytes(d);
    for (size_t i = 0; i < count; i++)
        if (alloc_home(d, place, i, count) == d->rank)
            copy_page(d->store + (first + i) * bytes, from + i * bytes, bytes);
}

/* Maps pages at @start, protected until alloc_begin(). */
static int map_there(ddsm_t *d, size_t first, size_t count, char *start)
{
    const size_t bytes = count << d->page_shift;
    if (mmap(start, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, d->fd,
             (off_t)(first << d->page_shift)) == MAP_FAILED ||
        madvise(start, bytes, MADV_DONTFORK))
        return space_fail(d, DRAIL_ENOMEM, "ddsm_adopt: %zu bytes at %p: %s",
                          bytes, (void *)start, strerror(errno));
    return 0;
}

static int check(ddsm_t *d, const char *start, size_t bytes)
{
    const uintptr_t mask = page_bytes(d) - 1;
    const char *end = start + bytes;
    if (((uintptr_t)start | bytes) & mask || !start || end < start)
        return space_fail(d, DRAIL_EINVAL,
                          "ddsm_adopt: %zu bytes at %p are not whole pages of "
                          "%zu",
                          bytes, (void *)start, page_bytes(d));
    bool meets = start < d->view + d->bytes && end > d->view;
    for (unsigned i = 0; i < d->segments; i++) {
        const struct segment *s = &d->segment[i];
        meets |= start < s->view + (s->count << d->page_shift) && end > s->view;
    }
    if (meets)
        return space_fail(d, DRAIL_EINVAL,
                          "ddsm_adopt: %zu bytes at %p belong to the space "
                          "already",
                          bytes, (void *)start);
    return d->segments < SEGMENTS
               ? 0
               : space_fail(d, DRAIL_EINVAL,
                            "ddsm_adopt: only %d ranges can be adopted",
                            SEGMENTS);
}

static int adopt(ddsm_t *d, char *start, size_t bytes,
                 const ddsm_place_t *place)
{
    size_t first, count;
    int rc = d->broken ? d->broken : check(d, start, bytes);
    if (!rc)
        rc = alloc_pages(d, bytes, place, &first, &count);
    if (rc)
        return rc;
    alloc_shape_add(d, (uintptr_t)start);
    copy_in(d, first, count, start, place);
    rc = map_there(d, first, count, start);
    if (rc)
        return space_break(d, rc);
    d->segment[d->segments] = (struct segment){
        first, count, start, place->homes == DDSM_ONE ? place->rank : d->size};
    atomic_fetch_add(&d->segments, 1);
    for (size_t p = first; p < first + count; p++)
        d->page[p].noticed = true; /* it is not zero elsewhere */
    rc = handler_add(d, start, bytes);
    if (!rc)
        rc = alloc_begin(d, first, count);
    return rc ? space_break(d, rc) : 0;
}

int ddsm_adopt(ddsm_t *d, void *start, size_t bytes, const ddsm_place_t *place)
{
    if (!d || !place)
        return DRAIL_EINVAL;
    const ddsm_place_t copy = *place; /* it may lie in the range */
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = adopt(d, start, bytes, &copy);
    space_leave(d);
    return rc ? rc : ddsm_barrier(d);
}

void adopt_fetch(ddsm_t *d)
{
    if (space_enter(d))
        return;
    for (unsigned i = 0; i < d->segments; i++)
        if (d->segment[i].rank == d->rank)
            fetch(d, d->segment[i].first, d->segment[i].count);
    space_leave(d);
}

/* The first page of the store from @at on, below @end, that has memory. The
 * others are zero, and reading them would give them memory. */
static size_t find_used(const ddsm_t *d, size_t at, size_t end)
{
    const off_t found = lseek(d->fd, (off_t)at, SEEK_DATA);
    if (found < 0)
        return errno == ENXIO ? end : at;
    return (size_t)found & -page_bytes(d);
}

static void give_back(const ddsm_t *d, const struct segment *s)
{
    const size_t bytes = s->count << d->page_shift;
    char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        return;
    const size_t first = s->first << d->page_shift, end = first + bytes;
    for (size_t at = first; (at = find_used(d, at, end)) < end;
         at += page_bytes(d))
        copy_page(copy + (at - first), d->store + at, page_bytes(d));
    if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, s->view) ==
        MAP_FAILED)
        munmap(copy, bytes);
}

void adopt_give_back(ddsm_t *d)
{
    for (unsigned i = 0; i < d->segments; i++)
        give_back(d, &d->segment[i]);
}

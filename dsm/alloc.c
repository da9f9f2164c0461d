/* SPDX-License-Identifier: BSD-3-Clause */
/* ddsm_alloc: pages of the space, one allocation after another. */
#include "dsm/alloc.h"
#include "dsm/base/enter.h"
#include "dsm/pages/coalesce.h"
#include "dsm/pages/pages.h"

unsigned alloc_home(const ddsm_t *d, const ddsm_place_t *place, size_t page,
                    size_t pages)
{
    switch (place->homes) {
    case DDSM_BLOCK: /* inverse of ddsm_part */
        return (unsigned)(((page + 1) * d->size - 1) / pages);
    case DDSM_CYCLIC:
        return (unsigned)(page % d->size);
    case DDSM_ONE:
    default:
        return place->rank;
    }
}

/* Readable, as all is zero; but not copies of pages that another rank has
 * written already, or may write without notices. */
static enum page_state first_state(const ddsm_t *d, size_t page)
{
    const struct page *p = &d->page[page];
    if (p->home == d->rank)
        return p->kind == DDSM_FIXED ? PAGE_CLEAN : PAGE_DIRTY;
    return p->kind != DDSM_FIXED || p->noticed ? PAGE_INVALID : PAGE_CLEAN;
}

static int begin_pages(ddsm_t *d, size_t first, size_t count)
{
    int rc = 0;
    for (size_t p = first, n; p < first + count && !rc; p += n) {
        const enum page_state state = first_state(d, p);
        for (n = 1; p + n < first + count; n++)
            if (first_state(d, p + n) != state)
                break;
        rc = pages_set(d, p, n, state);
    }
    return rc;
}

static void place_page(const ddsm_t *d, const ddsm_place_t *place, size_t i,
                       size_t count)
{
    const ddsm_kind_t kind = d->is_shared ? DDSM_OPEN : place->kind;
    struct page *page = &d->page[d->used + i];
    page->home =
        (uint16_t)(d->is_shared ? d->rank : alloc_home(d, place, i, count));
    page->kind = (uint8_t)kind;
    page->exclusive = kind == DDSM_MOVING;
}

/* A step of FNV-1a, with words instead of bytes. */
void alloc_shape_add(ddsm_t *d, uint64_t word)
{
    d->shape = (d->shape ^ word) * 1099511628211u;
}

int alloc_pages(ddsm_t *d, size_t bytes, const ddsm_place_t *place,
                size_t *first, size_t *pages)
{
    const size_t element = place->element ? place->element : 1;
    if (d->broken)
        return d->broken;
    if (!bytes || element & (element - 1) || element > 64 ||
        place->homes > DDSM_ONE || place->kind > DDSM_OPEN ||
        (place->homes == DDSM_ONE && place->rank >= d->size))
        return space_fail(d, DRAIL_EINVAL,
                          "ddsm_alloc: %zu bytes, elements of %zu (a power of "
                          "two up to 64), homes %d, rank %u of %u, kind %d",
                          bytes, element, place->homes, place->rank, d->size,
                          place->kind);
    const size_t left = (d->pages - d->used) << d->page_shift;
    if (bytes > left)
        return space_fail(d, DRAIL_ENOMEM,
                          "ddsm_alloc: %zu bytes, where %zu of %zu are left",
                          bytes, left, d->bytes);
    const size_t count = (bytes + page_bytes(d) - 1) >> d->page_shift;
    *first = d->used;
    for (size_t i = 0; i < count; i++) {
        place_page(d, place, i, count);
        d->page[d->used + i].element_shift = (uint8_t)__builtin_ctzl(element);
    }
    if (d->page[*first].kind == DDSM_MOVING) {
        if (!d->moving_end)
            d->moving_first = *first;
        d->moving_end = *first + count;
    }
    d->used += count;
    d->allocs++;
    alloc_shape_add(d, bytes);
    alloc_shape_add(d, element);
    alloc_shape_add(d, place->homes);
    alloc_shape_add(d, place->homes == DDSM_ONE ? place->rank : 0);
    alloc_shape_add(d, place->kind);
    *pages = count;
    return 0;
}

int alloc_begin(ddsm_t *d, size_t first, size_t count)
{
    int rc = begin_pages(d, first, count);
    if (!rc)
        return 0;
    rc = coalesce_mappings(d);
    for (size_t p = first; p < first + count && !rc; p++)
        if (page_is_open(d, p))
            rc = pages_set(d, p, 1, PAGE_DIRTY);
    return rc;
}

bool alloc_find(const ddsm_t *d, const char *start, size_t bytes, size_t *first,
                size_t *count)
{
    const char *last = start + (bytes ? bytes - 1 : 0);
    *first = *count = 0;
    if (!bytes && (page_at(d, start) != PAGE_NONE ||
                   (start > d->view && page_at(d, start - 1) != PAGE_NONE)))
        return true;
    *first = page_at(d, start);
    const size_t end = page_at(d, last);
    if (*first == PAGE_NONE || end == PAGE_NONE || end >= d->used ||
        last < start || page_segment(d, *first) != page_segment(d, end))
        return false;
    *count = end - *first + 1;
    return true;
}

void *ddsm_alloc(ddsm_t *d, size_t bytes, const ddsm_place_t *place)
{
    ddsm_place_t copy = {0};
    size_t first = 0, count = 0;
    if (!d)
        return NULL;
    if (place) /* it may lie in the view */
        copy = *place;
    int rc = space_enter(d);
    if (rc)
        return NULL;
    rc = alloc_pages(d, bytes, &copy, &first, &count);
    if (!rc)
        rc = alloc_begin(d, first, count);
    space_leave(d);
    return rc ? NULL : page_view(d, first);
}

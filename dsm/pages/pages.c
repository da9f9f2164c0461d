/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "dsm/pages/hot.h"
#include "dsm/pages/huge.h"
#include "dsm/pages/page_list.h"
#include "dsm/pages/readahead.h"

/* How many of @count pages lie in the mapping of the first. */
static size_t in_one_mapping(const ddsm_t *d, size_t first, size_t count)
{
    const struct segment *s = page_segment(d, first);
    size_t end = first + count;
    if (s)
        return s->first + s->count < end ? s->first + s->count - first : count;
    for (unsigned i = 0; i < d->segments; i++)
        if (d->segment[i].first > first && d->segment[i].first < end)
            end = d->segment[i].first;
    return end - first;
}

int pages_set(ddsm_t *d, size_t first, size_t count, enum page_state state)
{
    static const int protection[] = {
        [PAGE_UNUSED] = PROT_NONE,
        [PAGE_INVALID] = PROT_NONE,
        [PAGE_CLEAN] = PROT_READ,
        [PAGE_DIRTY] = PROT_READ | PROT_WRITE,
    };
    for (size_t p = first, n; p < first + count; p += n) {
        n = in_one_mapping(d, p, first + count - p);
        if (mprotect(page_view(d, p), n << d->page_shift, protection[state]))
            return space_fail(d, DRAIL_ENOMEM, "mprotect of %zu pages: %s", n,
                              strerror(errno));
    }
    for (size_t p = first; p < first + count; p++)
        d->page[p].state = (uint8_t)state;
    return 0;
}

static void keep(struct page_list *list, size_t page)
{
    list->page[list->count++] = (uint32_t)page;
}

void pages_notice(ddsm_t *d, size_t page)
{
    struct page *p = &d->page[page];
    if (p->written)
        return;
    p->written = true;
    keep(&d->written, page);
}

void pages_announce(ddsm_t *d, size_t page)
{
    pages_notice(d, page);
    if (d->page[page].written_in == d->interval)
        return;
    d->page[page].written_in = d->interval;
    keep(&d->changed, page);
}

void pages_count_write(ddsm_t *d, size_t page)
{
    struct page *p = &d->page[page];
    if (p->counted_in == d->interval)
        return;
    p->counted_in = d->interval;
    if (p->writes < UINT8_MAX)
        p->writes++;
}

void pages_count_change(struct page *page)
{
    page->writes = 0;
    if (page->changes < UINT8_MAX)
        page->changes++;
}

void pages_visit(ddsm_t *d, size_t first, size_t count)
{
    for (size_t p = first; p < first + count; p++) {
        if (d->page[p].kind != DDSM_OPEN || d->page[p].visited)
            continue;
        d->page[p].visited = true;
        keep(&d->visits, p);
    }
}

/* A page needs no twin at its home. */
static void make_twin(ddsm_t *d, size_t page)
{
    const size_t at = page << d->page_shift;
    if (d->page[page].home == d->rank)
        return;
    memcpy(d->twins + at, d->store + at, page_bytes(d));
}

/* At its home a page counts as written even if its contents end up unchanged:
 * other ranks may have read what was there in between. */
static void begin_writing(ddsm_t *d, size_t page)
{
    struct page *p = &d->page[page];
    keep(&d->dirty, page);
    d->stats.twins += p->home != d->rank;
    if (p->home == d->rank) {
        pages_announce(d, page);
        pages_count_write(d, page);
    }
}

/* Twins come first: from pages_set() on other threads may write. */
static int make_dirty(ddsm_t *d, size_t first, size_t count)
{
    huge_use(d, first, count);
    for (size_t p = first; p < first + count; p++) {
        hot_begin(d, p);
        make_twin(d, p);
    }
    int rc = pages_set(d, first, count, PAGE_DIRTY);
    for (size_t p = first; p < first + count && !rc; p++)
        begin_writing(d, p);
    return rc;
}

int pages_make_range_dirty(ddsm_t *d, size_t first, size_t count)
{
    const size_t end = first + count;
    int rc = 0;
    for (size_t p = first, n; p < end && !rc; p += n) {
        const bool clean = d->page[p].state == PAGE_CLEAN;
        n = 1;
        while (p + n < end && (d->page[p + n].state == PAGE_CLEAN) == clean)
            n++;
        if (clean)
            rc = make_dirty(d, p, n);
    }
    return rc;
}

int pages_make_list_dirty(ddsm_t *d, const struct page_list *list)
{
    int rc = 0;
    for (size_t i = 0, n; i < list->count && !rc; i += n) {
        n = pages_run(list, i);
        rc = pages_make_range_dirty(d, list->page[i], n);
    }
    return rc;
}

/* At its home a page that is taken along counts as written, and other ranks
 * fetch it again. So few are taken along there. */
static bool may_be_written(const ddsm_t *d, size_t page, size_t distance,
                           size_t passed)
{
    enum { WRITTEN = 8 };
    return d->page[page].state == PAGE_CLEAN &&
           (d->page[page].home != d->rank || distance <= passed / WRITTEN);
}

int pages_make_dirty_ahead(ddsm_t *d, size_t page, size_t *first, size_t *count)
{
    size_t low, high;
    struct ahead *a = readahead_begin(d, &d->writes, page, &low, &high);
    size_t end = page + 1;
    *first = page;
    while (*first > low &&
           may_be_written(d, *first - 1, page - *first + 1, a->passed))
        --*first;
    while (end < high && may_be_written(d, end, end - page, a->passed))
        end++;
    readahead_end(a, *first, end);
    *count = end - *first;
    return make_dirty(d, *first, *count);
}

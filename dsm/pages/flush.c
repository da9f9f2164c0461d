/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/flush.h"

#include "dsm/base/rdma.h"
#include "dsm/pages/diff.h"
#include "dsm/pages/exclusive.h"
#include "dsm/pages/pack.h"
#include "dsm/pages/pages.h"

/* A differing piece that may grow over the border of a page. */
struct piece {
    ddsm_t *d;
    unsigned home;
    size_t page;         /* offset of the page that is compared */
    size_t start, bytes; /* offset in the store, length */
    bool differs;        /* the page has a piece */
};

static int put(struct piece *p)
{
    ddsm_t *d = p->d;
    const drail_xfer_t xfer = {
        .local = d->store + p->start,
        .local_mem = d->store_mem,
        .remote = &d->store_keys[p->home],
        .remote_offset = p->start,
        .bytes = p->bytes,
    };
    if (!p->bytes)
        return 0;
    d->stats.pieces++;
    d->stats.diff_bytes += p->bytes;
    d->unfenced[p->home] = true;
    p->bytes = 0;
    return drail_put(d->t, p->home, &xfer, rdma_turn(d, d->stats.pieces), 0,
                     NULL);
}

static int differs(void *context, size_t offset, size_t bytes)
{
    struct piece *p = context;
    int rc = 0;
    p->differs = true;
    if (!p->bytes || p->start + p->bytes != p->page + offset) {
        rc = put(p);
        p->start = p->page + offset;
    }
    p->bytes += bytes;
    return rc;
}

/* Puts the differing pieces of @count adjacent pages. */
static int write_home(ddsm_t *d, size_t first, size_t count)
{
    struct piece piece = {.d = d};
    int rc = 0;
    for (size_t i = first; i < first + count && !rc; i++) {
        struct page *page = &d->page[i];
        if (piece.home != page->home)
            rc = put(&piece);
        piece.home = page->home;
        piece.page = i << d->page_shift;
        piece.differs = false;
        if (rc || page->home == d->rank)
            continue;
        if (page->packed) {
            page->packed = false;
            continue;
        }
        const char *now = d->store + piece.page;
        const char *before = d->twins + piece.page;
        d->stats.diffs++;
        d->cost[i].diffs++;
        rc = diff_pieces(now, before, page_bytes(d), page->element_shift,
                         differs, &piece);
        if (piece.differs) {
            pages_announce(d, i);
            pages_count_write(page);
        }
    }
    return rc ? rc : put(&piece);
}

static int fence(ddsm_t *d)
{
    int rc = 0;
    for (unsigned home = 0; home < d->size && !rc; home++)
        if (d->unfenced[home]) {
            rc = drail_fence(d->t, home);
            d->unfenced[home] = false;
        }
    return rc;
}

/* Words that no longer stand for the locks that other ranks remember. */
static int tell_lock_ended(ddsm_t *d)
{
    if (!d->lock_ended)
        return 0;
    d->lock_ended = false;
    int rc = rdma_count_everywhere(d, d->control.lock_ends_offset);
    return rc ? space_break_rails(d, rc, "lock") : 0;
}

int flush_protect_all(ddsm_t *d)
{
    int rc = 0;
    for (size_t p = 0, n; p < d->used && !rc; p += n) {
        const bool open = page_is_open(d, p);
        for (n = 1; p + n < d->used && page_is_open(d, p + n) == open; n++)
            continue;
        rc = open ? 0 : pages_set(d, p, n, PAGE_INVALID);
    }
    /* Their writes are tracked from here on, until the next barriers make them
     * exclusive again (claims.h). A rank may have fetched them since
     * exclusive_look(), and before they were protected: so they are announced.
     */
    for (size_t p = d->moving_first; p < d->moving_end && !rc; p++)
        if (d->page[p].exclusive && d->page[p].home == d->rank)
            exclusive_announce(d, p);
    return rc;
}

static int stop_writes(ddsm_t *d)
{
    struct page_list *dirty = &d->dirty;
    int rc = exclusive_look(d);
    pages_sort(dirty);
    for (size_t i = 0, n; i < dirty->count && !rc; i += n) {
        n = pages_run(dirty, i);
        rc = pages_set(d, dirty->page[i], n, PAGE_CLEAN);
    }
    return rc;
}

/* @few: as of pack_changes(); 0: packs nothing. */
static int flush_to(ddsm_t *d, unsigned few)
{
    struct page_list *dirty = &d->dirty;
    if (d->is_shared)
        return tell_lock_ended(d);
    const uint64_t start = space_now_ns();
    const drail_error_t before = d->error;
    /* first stop further writes of any thread */
    int rc = stop_writes(d);
    if (rc == DRAIL_ENOMEM) { /* no room for more mappings */
        rc = flush_protect_all(d);
        if (!rc)
            d->error = before;
    }
    if (rc)
        return space_break(d, rc);
    rc = tell_lock_ended(d);
    if (rc || !dirty->count)
        return rc;
    if (few)
        d->has_pack = pack_changes(d, dirty, few);
    for (size_t i = 0, n; i < dirty->count && !rc; i += n) {
        n = pages_run(dirty, i);
        rc = write_home(d, dirty->page[i], n);
    }
    if (!rc)
        rc = fence(d);
    dirty->count = 0;
    d->stats.flush_ns += space_now_ns() - start;
    return rc ? space_break_rails(d, rc, "writing pages home") : 0;
}

int flush(ddsm_t *d)
{
    return flush_to(d, 0);
}

int flush_and_pack(ddsm_t *d, unsigned few)
{
    d->has_pack = false;
    return flush_to(d, few);
}

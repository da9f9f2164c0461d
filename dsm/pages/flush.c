/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/flush.h"

#include <string.h>

#include "dsm/base/rdma.h"
#include "dsm/pages/diff.h"
#include "dsm/pages/exclusive.h"
#include "dsm/pages/hot.h"
#include "dsm/pages/pack.h"
#include "dsm/pages/page_list.h"
#include "dsm/pages/pages.h"

/* A differing piece that may grow over the border of a page. */
struct piece {
    ddsm_t *d;
    unsigned home;
    size_t page;         /* offset of the page that is compared */
    size_t start, bytes; /* offset in the store, length */
    unsigned pieces;     /* of the page, until now */
    bool stays;          /* the page stays writable */
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
    p->pieces++;
    if (p->stays)
        memcpy(p->d->twins + p->page + offset, p->d->store + p->page + offset,
               bytes);
    if (!p->bytes || p->start + p->bytes != p->page + offset) {
        rc = put(p);
        p->start = p->page + offset;
    }
    p->bytes += bytes;
    return rc;
}

/* Puts the differing pieces of a page whose home is elsewhere. */
static int write_page(struct piece *piece, size_t page)
{
    ddsm_t *d = piece->d;
    struct page *p = &d->page[page];
    d->stats.diffs++;
    d->cost[page].diffs++;
    int rc = diff_pieces(d->store + piece->page, d->twins + piece->page,
                         page_bytes(d), p->element_shift, differs, piece);
    if (piece->pieces) {
        pages_announce(d, page);
        pages_count_write(d, page);
    }
    return rc;
}

/* Goes on with another page, from which nothing is put yet. */
static int turn_to(struct piece *piece, size_t page)
{
    const unsigned home = piece->d->page[page].home;
    int rc = piece->home != home ? put(piece) : 0;
    piece->home = home;
    piece->page = page << piece->d->page_shift;
    piece->pieces = 0;
    return rc;
}

/* Puts the differing pieces of @count adjacent pages. */
static int write_home(ddsm_t *d, size_t first, size_t count)
{
    struct piece piece = {.d = d};
    int rc = 0;
    for (size_t i = first; i < first + count && !rc; i++) {
        struct page *page = &d->page[i];
        rc = turn_to(&piece, i);
        if (rc || page->home == d->rank)
            continue;
        if (page->packed)
            page->packed = false;
        else
            rc = write_page(&piece, i);
    }
    return rc ? rc : put(&piece);
}

static int write_hot(ddsm_t *d)
{
    struct piece piece = {.d = d, .stays = true};
    int rc = 0;
    for (size_t i = 0; i < d->hot_count && !rc; i++) {
        const size_t page = d->hot[i];
        rc = turn_to(&piece, page);
        if (!rc && d->page[page].home != d->rank)
            rc = write_page(&piece, page);
        hot_count(d, page, piece.pieces);
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

/* Announces the pages that have their home here, and that an earlier release
 * has left writable. */
static void announce_hot(ddsm_t *d)
{
    for (size_t i = 0; i < d->dirty.count; i++) {
        const size_t page = d->dirty.page[i];
        if (d->page[page].stayed && d->page[page].home == d->rank)
            pages_announce(d, page);
    }
}

/* @few: as of pack_changes(); 0: packs nothing. */
static int flush_to(ddsm_t *d, unsigned few, bool leaves_hot)
{
    struct page_list *dirty = &d->dirty;
    if (d->is_shared)
        return tell_lock_ended(d);
    const uint64_t start = space_now_ns();
    const drail_error_t before = d->error;
    if (few)
        d->has_pack = false;
    announce_hot(d);
    if (leaves_hot)
        hot_take_out(d);
    /* first stop further writes of any thread, but to hot pages */
    int rc = stop_writes(d);
    if (rc == DRAIL_ENOMEM) { /* no room for more mappings */
        hot_put_back(d);
        pages_sort(dirty);
        rc = flush_protect_all(d);
        if (!rc)
            d->error = before;
    }
    if (rc)
        return space_break(d, rc);
    rc = tell_lock_ended(d);
    if (rc || (!dirty->count && !d->hot_count))
        return rc;
    if (few)
        d->has_pack = pack_changes(d, dirty, few);
    for (size_t i = 0, n; i < dirty->count && !rc; i += n) {
        n = pages_run(dirty, i);
        rc = write_home(d, dirty->page[i], n);
    }
    if (!rc)
        rc = write_hot(d);
    if (!rc)
        rc = fence(d);
    dirty->count = 0;
    hot_put_back(d);
    d->stats.flush_ns += space_now_ns() - start;
    return rc ? space_break_rails(d, rc, "writing pages home") : 0;
}

int flush(ddsm_t *d)
{
    return flush_to(d, 0, false);
}

int flush_and_pack(ddsm_t *d, unsigned few)
{
    return flush_to(d, few, false);
}

int flush_and_leave_hot(ddsm_t *d, unsigned few)
{
    return flush_to(d, few, true);
}

int flush_range(ddsm_t *d, size_t first, size_t count)
{
    struct page_list *dirty = &d->dirty;
    const size_t all = dirty->count;
    const drail_error_t before = d->error;
    int rc = 0;
    for (size_t i = all; i-- > 0 && !rc;) {
        const size_t page = dirty->page[i];
        if (page - first >= count || d->page[page].home == d->rank)
            continue;
        if (pages_set(d, page, 1, PAGE_CLEAN)) { /* no room for more mappings */
            d->error = before;
            return flush(d);
        }
        dirty->page[i] = dirty->page[--dirty->count];
        rc = write_home(d, page, 1);
    }
    if (!rc && dirty->count < all)
        rc = fence(d);
    return rc ? space_break_rails(d, rc, "writing pages home") : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/fetch.h"

#include "dsm/base/rdma.h"
#include "dsm/pages/exclusive.h"
#include "dsm/pages/history.h"
#include "dsm/pages/huge.h"
#include "dsm/pages/pages.h"
#include "dsm/pages/signals.h"

enum { AT_ONCE = 32 }; /* RDMA reads under way */

/* Number of invalid pages from @first on, below @end, that have the same home
 * and are all held (history.h), or all not. */
static size_t run_of(const ddsm_t *d, size_t first, size_t end)
{
    size_t p = first;
    while (p < end && d->page[p].state == PAGE_INVALID &&
           d->page[p].home == d->page[first].home &&
           d->page[p].held == d->page[first].held)
        p++;
    return p - first;
}

static int make_readable(ddsm_t *d, size_t first, size_t count)
{
    int rc = pages_set(d, first, count, PAGE_CLEAN);
    for (size_t p = first; p < first + count && !rc; p++)
        d->page[p].held = false;
    return rc;
}

static void hold(ddsm_t *d, size_t first, size_t count)
{
    if (d->tests)
        d->stats.predicted += count;
    for (size_t p = first; p < first + count; p++)
        d->page[p].held = true;
}

/* @turn: its number in a batch. A read alone takes the rail that the transport
 * chooses. */
static int begin(ddsm_t *d, size_t first, size_t count, unsigned turn,
                 drail_req_t *req)
{
    const unsigned home = d->page[first].home;
    const size_t offset = first << d->page_shift;
    const drail_xfer_t xfer = {
        .local = d->store + offset,
        .local_mem = d->store_mem,
        .remote = &d->store_keys[home],
        .remote_offset = offset,
        .bytes = count << d->page_shift,
    };
    huge_use(d, first, count);
    d->stats.fetches++;
    d->stats.fetched_pages += count;
    for (size_t p = first; p < first + count; p++)
        d->cost[p].fetches++;
    return drail_get(d->t, home, &xfer, turn ? rdma_turn(d, turn) : 0, req);
}

/* Runs whose reads are under way. */
struct batch {
    int rc; /* of beginning them */
    unsigned n;
    struct run {
        size_t first, count;
        drail_req_t req;
    } run[AT_ONCE];
};

/* As drail_wait(). In a fault, signals that end the program still do. */
static int wait_for(ddsm_t *d, drail_req_t *req)
{
    enum { SLICE_MS = 100 };
    int left = drail_config_of(d->t)->timeout_ms, rc;
    if (!d->faults)
        return drail_wait(d->t, req, -1);
    while ((rc = drail_wait(d->t, req, left < SLICE_MS ? left : SLICE_MS)) ==
               DRAIL_ETIMEOUT &&
           (left -= SLICE_MS) > 0)
        signals_let_end();
    return rc;
}

/* Waits for all runs, also after an error: a late read must not overwrite what
 * the program writes. A page is readable only after its read is complete, and
 * not yet if it is to be held. */
static int end_batch(ddsm_t *d, struct batch *b, bool held)
{
    int rc = 0, full = 0;
    for (unsigned i = 0; i < b->n; i++) {
        struct run *run = &b->run[i];
        if (!rc)
            rc = wait_for(d, &run->req);
        if (rc) { /* the requests are on a stack */
            drail_forget(d->t, &run->req);
            continue;
        }
        pages_visit(d, run->first, run->count);
        if (held)
            hold(d, run->first, run->count);
        else if (!full)
            full = make_readable(d, run->first, run->count);
    }
    if (rc)
        rc = space_break_rails(d, rc, "fetching pages");
    return b->rc ? b->rc : rc ? rc : full;
}

static void empty(struct batch *b)
{
    b->rc = 0;
    b->n = 0;
}

static bool has_room(const struct batch *b)
{
    return !b->rc && b->n < AT_ONCE;
}

/* Begins reads of the pages before @end while there is room; returns where it
 * has stopped. */
static size_t add_runs(ddsm_t *d, struct batch *b, size_t first, size_t end)
{
    size_t p = first;
    while (p < end && has_room(b)) {
        const size_t count = run_of(d, p, end);
        if (count && (d->page[p].home == d->rank || d->page[p].held)) {
            b->rc = make_readable(d, p, count);
        } else if (count) {
            struct run *run = &b->run[b->n];
            run->first = p;
            run->count = count;
            b->rc = begin(d, p, count, b->n, &run->req);
            if (b->rc)
                b->rc = space_break_rails(d, b->rc, "fetching pages");
            else
                b->n++;
        }
        p += count ? count : 1;
    }
    return p;
}

int fetch(ddsm_t *d, size_t first, size_t count)
{
    const size_t end = first + count;
    int rc = exclusive_tell(d, first, end);
    while (first < end && !rc) {
        struct batch b;
        empty(&b);
        first = add_runs(d, &b, first, end);
        rc = end_batch(d, &b, false);
    }
    return rc;
}

int fetch_ahead(ddsm_t *d, size_t page)
{
    struct ahead *stream = pages_stream(&d->reads, page);
    const size_t end = pages_readahead_end(d, stream, page);
    const bool held = d->page[page].held;
    const size_t count = held ? 1 : run_of(d, page, end);
    stream->next = page + count;
    history_record(d, USE_FETCH, page, count);
    if (d->tests && d->page[page].home != d->rank)
        *(held ? &d->stats.predicted_used : &d->stats.unpredicted) += count;
    return fetch(d, page, count);
}

int fetch_list(ddsm_t *d, const struct page_list *list, bool held)
{
    int rc = 0;
    size_t i = 0;
    for (size_t n; i < list->count && !rc; i += n) {
        n = pages_run(list, i);
        rc = exclusive_tell(d, list->page[i], list->page[i] + n);
    }
    i = 0;
    while (i < list->count && !rc) {
        struct batch b;
        empty(&b);
        while (i < list->count && has_room(&b)) {
            const size_t first = list->page[i];
            const size_t end = first + pages_run(list, i);
            i += add_runs(d, &b, first, end) - first;
        }
        rc = end_batch(d, &b, held);
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/fetch.h"

#include "dsm/base/rdma.h"
#include "dsm/pages/exclusive.h"
#include "dsm/pages/history.h"
#include "dsm/pages/huge.h"
#include "dsm/pages/lock_history.h"
#include "dsm/pages/page_list.h"
#include "dsm/pages/pages.h"
#include "dsm/pages/readahead.h"
#include "dsm/pages/signals.h"

enum { AT_ONCE = 32 }; /* RDMA reads under way */

/* Is the page invalid, with the same home, and held (history.h) or not, as
 * another one? */
static bool is_like(const ddsm_t *d, size_t page, size_t other)
{
    return d->page[page].state == PAGE_INVALID &&
           d->page[page].home == d->page[other].home &&
           d->page[page].held == d->page[other].held;
}

/* Number of such pages from @first on, below @end. */
static size_t run_of(const ddsm_t *d, size_t first, size_t end)
{
    size_t p = first;
    while (p < end && is_like(d, p, first))
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

/* Does the history that counts now test what it has foretold? */
static bool is_test(const ddsm_t *d)
{
    return d->under ? d->under_tests : d->tests;
}

/* A fault fetches these pages, or they are held. */
static void record(ddsm_t *d, size_t first, size_t count, bool held)
{
    if (d->under)
        lock_history_record(d, first, count, held);
    else
        history_record(d, USE_FETCH, first, count);
    if (is_test(d) && d->page[first].home != d->rank)
        *(held ? &d->stats.predicted_used : &d->stats.unpredicted) += count;
}

static void hold(ddsm_t *d, size_t first, size_t count)
{
    if (is_test(d))
        d->stats.predicted += count;
    for (size_t p = first; p < first + count; p++)
        d->page[p].held = true;
}

/* @turn: its number in a window. The first read takes the rail that the
 * transport chooses: it may be the only one. */
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

/* Runs whose reads are under way: the oldest one ends first, and makes room for
 * another one. */
struct window {
    bool held; /* pages are to be held, not readable yet */
    int rc;    /* of beginning reads, or of making pages readable */
    int lost;  /* of the reads */
    unsigned begun, ended;
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

/* A page is readable only after its read is complete. If one cannot be begun,
 * or made readable, those under way are waited for: a late one must not
 * overwrite what the program writes. If one is lost, the memory is broken, and
 * the others are forgotten, as the requests are on a stack. */
static void end_oldest(ddsm_t *d, struct window *w)
{
    struct run *run = &w->run[w->ended++ % AT_ONCE];
    int rc = w->lost ? w->lost : wait_for(d, &run->req);
    if (rc) {
        drail_forget(d->t, &run->req);
        if (!w->lost)
            w->lost = space_break_rails(d, rc, "fetching pages");
        return;
    }
    pages_visit(d, run->first, run->count);
    if (w->held)
        hold(d, run->first, run->count);
    else if (!w->rc)
        w->rc = make_readable(d, run->first, run->count);
}

static int end_all(ddsm_t *d, struct window *w)
{
    while (w->ended < w->begun)
        end_oldest(d, w);
    return w->lost ? w->lost : w->rc;
}

static void add_run(ddsm_t *d, struct window *w, size_t first, size_t count)
{
    if (d->page[first].home == d->rank || d->page[first].held) {
        w->rc = make_readable(d, first, count);
        return;
    }
    if (w->begun - w->ended == AT_ONCE)
        end_oldest(d, w);
    if (w->lost) /* another one might wait as long again */
        return;
    struct run *run = &w->run[w->begun % AT_ONCE];
    run->first = first;
    run->count = count;
    int rc = begin(d, first, count, w->begun, &run->req);
    if (rc)
        w->rc = space_break_rails(d, rc, "fetching pages");
    else
        w->begun++;
}

static void add_runs(ddsm_t *d, struct window *w, size_t first, size_t end)
{
    for (size_t p = first, n; p < end && !w->rc && !w->lost; p += n ? n : 1) {
        n = run_of(d, p, end);
        if (n)
            add_run(d, w, p, n);
    }
}

static void open_window(struct window *w, bool held)
{
    w->held = held;
    w->rc = w->lost = 0;
    w->begun = w->ended = 0;
}

int fetch(ddsm_t *d, size_t first, size_t count)
{
    struct window w;
    int rc = exclusive_tell(d, first, first + count);
    if (rc)
        return rc;
    open_window(&w, false);
    add_runs(d, &w, first, first + count);
    return end_all(d, &w);
}

int fetch_ahead(ddsm_t *d, size_t page)
{
    size_t low, high;
    struct ahead *a = readahead_begin(d, &d->reads, page, &low, &high);
    const bool held = d->page[page].held;
    size_t first = page, end = page + 1;
    while (first > low && !held && is_like(d, first - 1, page))
        first--;
    while (end < high && !held && is_like(d, end, page))
        end++;
    const size_t count = end - first;
    readahead_end(a, first, end);
    record(d, first, count, held);
    return fetch(d, first, count);
}

int fetch_list(ddsm_t *d, const struct page_list *list, bool held)
{
    struct window w;
    int rc = 0;
    for (size_t i = 0, n; i < list->count && !rc; i += n) {
        n = pages_run(list, i);
        rc = exclusive_tell(d, list->page[i], list->page[i] + n);
    }
    if (rc)
        return rc;
    open_window(&w, held);
    for (size_t i = 0, n; i < list->count; i += n) {
        n = pages_run(list, i);
        add_runs(d, &w, list->page[i], list->page[i] + n);
    }
    return end_all(d, &w);
}

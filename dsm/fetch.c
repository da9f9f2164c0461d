/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/fetch.h"

#include "dsm/pages.h"

enum { AT_ONCE = 32 }; /* reads under way */

/* Invalid pages of one home from @first on, below @end. */
static size_t run_of(const ddsm_t *d, size_t first, size_t end)
{
    size_t p = first;
    while (p < end && d->page[p].state == PAGE_INVALID &&
           d->page[p].home == d->page[first].home)
        p++;
    return p - first;
}

static int begin(ddsm_t *d, size_t first, size_t count, drail_req_t *req)
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
    d->stats.fetches++;
    d->stats.fetched_pages += count;
    return drail_get(d->t, home, &xfer, 0, req);
}

/* As many runs as may be under way; the page after them in @first. */
static int fetch_some(ddsm_t *d, size_t *first, size_t end)
{
    drail_req_t req[AT_ONCE];
    struct run {
        size_t first, count;
    } run[AT_ONCE];
    unsigned n = 0, done;
    int rc = 0;
    size_t p = *first;
    while (p < end && n < AT_ONCE && !rc) {
        const size_t count = run_of(d, p, end);
        if (count) {
            run[n] = (struct run){p, count};
            rc = begin(d, p, count, &req[n]);
            n += !rc;
        }
        p += count ? count : 1;
    }
    for (done = 0; done < n && !rc; done++) {
        rc = drail_wait(d->t, &req[done], -1);
        if (!rc && pages_set(d, run[done].first, run[done].count, PAGE_CLEAN))
            return d->broken;
    }
    *first = p;
    if (!rc)
        return 0;
    /* nothing may write to requests that are no more */
    for (unsigned i = done ? done - 1 : 0; i < n; i++)
        drail_forget(d->t, &req[i]);
    return space_break(d, rc, "fetching pages");
}

int fetch(ddsm_t *d, size_t first, size_t count)
{
    const size_t end = first + count;
    int rc = 0;
    while (first < end && !rc)
        rc = fetch_some(d, &first, end);
    return rc;
}

int fetch_ahead(ddsm_t *d, size_t page)
{
    const size_t end = pages_ahead(d, &d->reads, page);
    const size_t count = run_of(d, page, end);
    d->reads.next = page + count;
    return fetch(d, page, count);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/exclusive.h"

#include <string.h>

#include "dsm/base/rdma.h"
#include "dsm/pages/pages.h"

static bool is_to_tell(const ddsm_t *d, size_t page)
{
    const struct page *p = &d->page[page];
    return p->exclusive && p->state == PAGE_INVALID && p->home != d->rank;
}

/* Pages from @first on that are to be told to one home. */
static size_t run_of(const ddsm_t *d, size_t first, size_t end)
{
    size_t p = first;
    while (p < end && p - first < COPIED_ONES && is_to_tell(d, p) &&
           d->page[p].home == d->page[first].home)
        p++;
    return p - first;
}

static int put_ones(ddsm_t *d, size_t first, size_t count)
{
    const unsigned home = d->page[first].home;
    const drail_xfer_t xfer = {
        .local = d->control.ones,
        .local_mem = d->control.mem,
        .remote = &d->control.keys[home],
        .remote_offset = d->control.copied_offset + first,
        .bytes = count,
    };
    int rc = rdma_write(d, home, &xfer);
    for (size_t p = first; p < first + count; p++)
        d->page[p].exclusive = false;
    return rc ? space_break_rails(d, rc, "fetching pages") : 0;
}

int exclusive_tell(ddsm_t *d, size_t first, size_t end)
{
    bool told = false;
    int rc = 0;
    if (first < d->moving_first)
        first = d->moving_first;
    if (end > d->moving_end)
        end = d->moving_end;
    for (size_t p = first, n; p < end && !rc; p += n) {
        n = run_of(d, p, end);
        if (n) {
            rc = put_ones(d, p, n);
            told = true;
        } else {
            n = 1;
        }
    }
    /* over shared memory: stored before the page is loaded */
    if (told)
        atomic_thread_fence(memory_order_seq_cst);
    return rc;
}

/* Pages from @first on whose byte is set, which this clears. The home may write
 * until they are protected; the notices come after that. */
static size_t take_copied(ddsm_t *d, size_t first)
{
    size_t p = first;
    while (p < d->moving_end &&
           __atomic_exchange_n(&d->control.copied[p], 0, __ATOMIC_SEQ_CST))
        p++;
    return p - first;
}

static bool is_exclusive_here(const ddsm_t *d, size_t page)
{
    return d->page[page].exclusive && d->page[page].home == d->rank;
}

static int end_exclusive(ddsm_t *d, size_t first, size_t count)
{
    int rc = 0;
    for (size_t p = first, n; p < first + count && !rc; p += n) {
        const bool here = is_exclusive_here(d, p);
        for (n = 1; p + n < first + count; n++)
            if (is_exclusive_here(d, p + n) != here)
                break;
        if (!here)
            continue;
        for (size_t i = p; i < p + n; i++) {
            d->page[i].exclusive = false;
            d->page[i].changes++;
            d->page[i].writes = 0;
            pages_announce(d, i);
        }
        rc = pages_set(d, p, n, PAGE_CLEAN);
    }
    return rc ? space_break(d, rc) : 0;
}

int exclusive_look(ddsm_t *d)
{
    int rc = 0;
    if (d->settling || !d->moving_end)
        return 0;
    /* over shared memory: what was written before is stored by now */
    atomic_thread_fence(memory_order_seq_cst);
    size_t p = d->moving_first & ~(size_t)7;
    while (p < d->moving_end && !rc) {
        const uint64_t *eight = (const uint64_t *)(d->control.copied + p);
        if (p % 8 == 0 && !__atomic_load_n(eight, __ATOMIC_RELAXED)) {
            p += 8;
            continue;
        }
        const size_t n = take_copied(d, p);
        rc = end_exclusive(d, p, n);
        p += n ? n : 1;
    }
    return rc;
}

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

static int put_ones(ddsm_t *d, unsigned home, size_t offset, size_t count)
{
    const drail_xfer_t xfer = {
        .local = d->control.ones,
        .local_mem = d->control.mem,
        .remote = &d->control.keys[home],
        .remote_offset = offset,
        .bytes = count,
    };
    int rc = rdma_write(d, home, &xfer);
    return rc ? space_break_rails(d, rc, "fetching pages") : 0;
}

/* The bytes of pages arrive before those of their blocks. */
static int tell(ddsm_t *d, size_t first, size_t count)
{
    const unsigned home = d->page[first].home;
    const size_t block = first / COPIED_BLOCK;
    const size_t last = (first + count - 1) / COPIED_BLOCK;
    int rc = put_ones(d, home, d->control.copied_offset + first, count);
    if (!rc)
        rc = put_ones(d, home, d->control.copied_blocks_offset + block,
                      last - block + 1);
    for (size_t p = first; p < first + count; p++)
        d->page[p].exclusive = false;
    return rc;
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
            rc = tell(d, p, n);
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

/* Clears bytes that are set, from @first on; returns how many. */
static size_t clear(char *bytes, size_t first, size_t end)
{
    size_t i = first;
    while (i < end && __atomic_exchange_n(&bytes[i], 0, __ATOMIC_SEQ_CST))
        i++;
    return i - first;
}

/* The first byte that is set; @end: none is. */
static size_t find(const char *bytes, size_t first, size_t end)
{
    const char *at = memchr(bytes + first, 1, end - first);
    return at ? (size_t)(at - bytes) : end;
}

static bool is_exclusive_here(const ddsm_t *d, size_t page)
{
    return d->page[page].exclusive && d->page[page].home == d->rank;
}

void exclusive_announce(ddsm_t *d, size_t page)
{
    /* whether this rank has written it is not known */
    d->page[page].exclusive = false;
    pages_notice(d, page);
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
            exclusive_announce(d, i);
            pages_count_change(&d->page[i]);
        }
        rc = pages_set(d, p, n, PAGE_CLEAN);
    }
    return rc;
}

/* The home may write pages until they are protected; the notices come after
 * that. */
static int look_at_pages(ddsm_t *d, size_t first, size_t end)
{
    char *copied = d->control.copied;
    int rc = 0;
    for (size_t p = find(copied, first, end), n; p < end && !rc;
         p = find(copied, p + n, end)) {
        n = clear(copied, p, end);
        rc = end_exclusive(d, p, n);
    }
    return rc;
}

int exclusive_look(ddsm_t *d)
{
    char *blocks = d->control.copied_blocks;
    const size_t end = (d->moving_end + COPIED_BLOCK - 1) / COPIED_BLOCK;
    size_t b = d->moving_first / COPIED_BLOCK;
    int rc = 0;
    if (d->settling || !d->moving_end)
        return 0;
    /* over shared memory: what was written before is stored by now */
    atomic_thread_fence(memory_order_seq_cst);
    for (size_t n; (b = find(blocks, b, end)) < end && !rc; b += n) {
        /* before the pages' bytes: a rank that sets one of these later sets
         * the block's byte again */
        n = clear(blocks, b, end);
        const size_t last = (b + n) * COPIED_BLOCK;
        rc = look_at_pages(d, b * COPIED_BLOCK,
                           last < d->moving_end ? last : d->moving_end);
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/sync/notices.h"

#include <stddef.h>

#include "dsm/pages/coalesce.h"
#include "dsm/pages/flush.h"
#include "dsm/pages/page_list.h"
#include "dsm/pages/pages.h"
#include "dsm/sync/control.h"

void notices_append(ddsm_t *d)
{
    struct notice_log *log = d->control.log;
    struct page_list *written = &d->written;
    uint64_t ranges = 0;
    pages_sort(written);
    for (size_t i = 0; i < written->count; i += pages_run(written, i))
        ranges++;
    atomic_store(&log->reserved, d->log_end + ranges);
    atomic_thread_fence(
        memory_order_seq_cst); /* readers see `reserved` before any new range */
    for (size_t i = 0, n; i < written->count; i += n) {
        n = pages_run(written, i);
        log->range[d->log_end++ % LOG_RANGES] =
            (struct range){written->page[i], (uint32_t)n};
        for (size_t p = 0; p < n; p++)
            d->page[written->page[i] + p].written = false;
    }
    written->count = 0;
    atomic_store(&log->end, d->log_end);
    d->clock_version += ranges > 0;
    d->vector_clock[d->rank] = d->log_end;
}

void notices_summarize(const ddsm_t *d, struct arrival *arrival, uint32_t end)
{
    const uint32_t room = end - arrival->claims;
    const uint32_t count = d->log_end < room ? (uint32_t)d->log_end : room;
    arrival->allocs = d->allocs;
    arrival->shape = d->shape;
    arrival->head = d->log_end;
    arrival->count = count;
    for (uint32_t i = 0; i < count; i++)
        arrival->range[arrival->claims + i] =
            d->control.log->range[(d->log_end - count + i) % LOG_RANGES];
}

static int invalidate(ddsm_t *d, size_t first, size_t count)
{
    const size_t end = first + count;
    int rc = flush_range(d, first, count);
    for (size_t p = first, n; p < end && !rc; p += n) {
        const bool old =
            d->page[p].state == PAGE_CLEAN && d->page[p].home != d->rank;
        for (n = 1; p + n < end; n++)
            if ((d->page[p + n].state == PAGE_CLEAN &&
                 d->page[p + n].home != d->rank) != old)
                break;
        if (old) {
            d->stats.invalidated += n;
            rc = pages_set(d, p, n, PAGE_INVALID);
            if (rc) /* no room for one more mapping */
                rc = coalesce_mappings(d);
        }
        for (size_t i = p; i < p + n; i++) {
            d->cost[i].invalidated += old;
            d->page[i].held = false;
            if (d->page[i].state == PAGE_UNUSED)
                d->page[i].noticed = true;
        }
    }
    return rc;
}

int notices_end_visits(ddsm_t *d)
{
    struct page_list *visits = &d->visits;
    int rc = 0;
    pages_sort(visits);
    for (size_t i = 0, n; i < visits->count; i += n) {
        n = pages_run(visits, i);
        for (size_t p = 0; p < n; p++)
            d->page[visits->page[i] + p].visited = false;
        if (!rc)
            rc = invalidate(d, visits->page[i], n);
    }
    visits->count = 0;
    return rc;
}

static int take(ddsm_t *d, unsigned rank, const struct range *range)
{
    if (range->first >= d->pages || range->count > d->pages - range->first)
        return space_break(d,
                           space_fail(d, DRAIL_EDAT,
                                      "rank %u has written %u pages from %u on",
                                      rank, range->count, range->first));
    for (size_t i = 0; i < range->count; i++) {
        struct page_cost *cost = &d->cost[range->first + i];
        const bool both = d->page[range->first + i].written_in == d->interval;
        cost->shared_writes |= both;
        d->stats.shared_writes += both;
    }
    return invalidate(d, range->first, range->count);
}

/* Reads ranges of another rank's log, and then `reserved`, to control memory.
 * @count is at most LOG_RANGES. */
static int read_log(ddsm_t *d, unsigned rank, uint64_t from, uint64_t count)
{
    struct range *to = d->control.range;
    while (count) {
        const uint64_t at = from % LOG_RANGES;
        const uint64_t n = count < LOG_RANGES - at ? count : LOG_RANGES - at;
        int rc = control_read(d, rank,
                              offsetof(struct notice_log, range) +
                                  at * sizeof(struct range),
                              to, n * sizeof(struct range));
        if (rc)
            return rc;
        to += n;
        from += n;
        count -= n;
    }
    return control_read(d, rank, offsetof(struct notice_log, reserved),
                        d->control.reserved, sizeof(uint64_t));
}

/* This rank may know notices of a pack already, and may have fetched the pages
 * before the pack was home. */
static uint64_t first_to_apply(const ddsm_t *d, unsigned rank,
                               const struct arrival *arrival)
{
    const uint64_t known = d->vector_clock[rank];
    return arrival && arrival->packed_from < known ? arrival->packed_from
                                                   : known;
}

int notices_apply(ddsm_t *d, unsigned rank, uint64_t head,
                  const struct arrival *arrival)
{
    const uint64_t from = first_to_apply(d, rank, arrival);
    const struct range *range = d->control.range;
    int rc = 0;
    if (rank == d->rank || head <= from)
        return 0;
    const uint64_t count = head - from;
    d->vector_clock[rank] = head;
    d->clock_version++;
    if (arrival && count <= arrival->count &&
        (uint64_t)arrival->claims + arrival->count <= ARRIVAL_RANGES) {
        range = arrival->range + arrival->claims + arrival->count - count;
    } else {
        if (count <= LOG_RANGES)
            rc = read_log(d, rank, from, count);
        if (rc)
            return rc;
        /* the writer may have overwritten them meanwhile */
        if (count > LOG_RANGES || *d->control.reserved - from > LOG_RANGES)
            return invalidate(d, 0, d->pages);
    }
    for (uint64_t i = 0; i < count && !rc; i++)
        rc = take(d, rank, &range[i]);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dsm/base/enter.h"
#include "dsm/heap/returns.h"
#include "dsm/pages/coalesce.h"
#include "dsm/pages/fetch.h"
#include "dsm/pages/flush.h"
#include "dsm/pages/history.h"
#include "dsm/pages/lock_history.h"
#include "dsm/pages/pages.h"
#include "dsm/pages/readahead.h"
#include "dsm/release.h"
#include "dsm/sync/claims.h"
#include "dsm/sync/notices.h"
#include "dsm/sync/pack_exchange.h"
#include "dsm/sync/peer_wait.h"
#include "dsm/sync/shared_barrier.h"

/* Ranks that have made equally many allocations must have made the same. */
static int check_shapes(ddsm_t *d)
{
    for (unsigned r = 0; r < d->size; r++) {
        const struct arrival *a = &d->control.arrivals[r];
        if (a->allocs == d->allocs && a->shape != d->shape)
            return space_break(
                d, space_fail(d, DRAIL_EINVAL,
                              "rank %u has given other arguments to ddsm_alloc",
                              r));
    }
    return 0;
}

static struct range *place_of_note(struct arrival *arrival)
{
    return arrival->range + ARRIVAL_RANGES - NOTE_RANGES;
}

static int release(ddsm_t *d)
{
    enum { FEW = 4 };
    returns_collect(d);
    release_begin(d);
    struct arrival *arrival = d->control.arrival;
    int rc = d->broken ? d->broken : flush_and_pack(d, FEW);
    if (!rc) {
        d->settling = true;
        arrival->packed_from = d->has_pack ? d->log_end : UINT64_MAX;
        claims_make(d, arrival);
        notices_append(d);
    }
    release_end(d);
    return rc;
}

static int exchange_arrivals(ddsm_t *d, const void *note)
{
    struct arrival *arrival = d->control.arrival;
    notices_summarize(d, arrival,
                      note ? ARRIVAL_RANGES - NOTE_RANGES : ARRIVAL_RANGES);
    if (note)
        memcpy(place_of_note(arrival), note, DDSM_NOTE_BYTES);
    int rc = peer_wait_run(d, d->barrier_request, "barrier");
    return rc ? rc : check_shapes(d);
}

/* Blocks may be used again only when what this rank has written to them is
 * home, so behind a pack. */
static int exchange_and_settle(ddsm_t *d, const void *note)
{
    int rc = d->has_pack ? 0 : returns_hand_over(d);
    if (!rc)
        rc = exchange_arrivals(d, note);
    if (!rc)
        rc = pack_exchange(d);
    return rc || !d->has_pack ? rc : returns_hand_over(d);
}

/* Pages that find no room for mappings come by faults. */
static int begin_interval(ddsm_t *d, const uint64_t *names)
{
    lock_history_leave(d);
    const struct page_list *list = history_turn(d, names);
    if (!list)
        return 0;
    const drail_error_t before = d->error;
    int rc = fetch_list(d, &list[USE_FETCH], d->learning);
    if (!rc && !d->learning)
        rc = pages_make_list_dirty(d, &list[USE_WRITE]);
    return coalesce_if_full(d, rc, &before);
}

static int turn(ddsm_t *d, const uint64_t *names)
{
    const uint64_t start = space_now_ns();
    int rc = begin_interval(d, names);
    d->stats.ahead_ns += space_now_ns() - start;
    return rc;
}

/* There is nothing to write home, or to fetch. */
static int barrier_of_shared(ddsm_t *d, const void *note, void *notes)
{
    int rc = d->broken ? d->broken : release_shared(d);
    if (!rc)
        rc = shared_barrier_run(d, note, notes);
    if (!rc)
        rc = check_shapes(d);
    d->interval++;
    if (!rc)
        returns_take(d);
    return rc;
}

static int barrier_of_copies(ddsm_t *d, const void *note, void *notes)
{
    int rc = release(d);
    if (!rc)
        rc = exchange_and_settle(d, note);
    /* another thread may have faulted meanwhile (by reading: a read may be
     * taken for a write) */
    if (!rc)
        rc = flush(d);
    for (unsigned r = 0; r < d->size && !rc; r++)
        rc = notices_apply(d, r, d->control.arrivals[r].head,
                           &d->control.arrivals[r]);
    if (!rc)
        rc = notices_end_visits(d);
    if (!rc)
        rc = claims_settle(d);
    d->settling = false;
    d->interval++;
    d->changed.count = 0;
    readahead_forget(d);
    if (!rc)
        rc = turn(d, (uint64_t[DDSM_NAMES]){d->next_name});
    if (!rc)
        returns_take(d);
    for (unsigned r = 0; r < d->size && !rc && notes; r++)
        memcpy((char *)notes + (size_t)r * DDSM_NOTE_BYTES,
               place_of_note(&d->control.arrivals[r]), DDSM_NOTE_BYTES);
    return rc;
}

int ddsm_barrier_note(ddsm_t *d, const void *mine, void *all)
{
    if (!d)
        return DRAIL_EINVAL;
    const uint64_t start = space_now_ns();
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->is_shared ? barrier_of_shared(d, mine, all)
                      : barrier_of_copies(d, mine, all);
    d->stats.barriers++;
    d->stats.barrier_ns += space_now_ns() - start;
    space_leave(d);
    return rc;
}

int ddsm_barrier(ddsm_t *d)
{
    return ddsm_barrier_note(d, NULL, NULL);
}

void ddsm_interval(ddsm_t *d, uint64_t name)
{
    if (!d || space_enter(d))
        return;
    d->next_name = name;
    space_leave(d);
}

int ddsm_interval_names(ddsm_t *d, const uint64_t names[DDSM_NAMES])
{
    uint64_t copy[DDSM_NAMES]; /* they may lie in the view */
    if (!d || !names)
        return DRAIL_EINVAL;
    memcpy(copy, names, sizeof copy);
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken ? d->broken : turn(d, copy);
    space_leave(d);
    return rc;
}

int ddsm_interval_now(ddsm_t *d, uint64_t name)
{
    return ddsm_interval_names(d, (uint64_t[DDSM_NAMES]){name});
}

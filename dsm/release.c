/* SPDX-License-Identifier: BSD-3-Clause */
/* ddsm_release, ddsm_acquire, ddsm_flush: synchronisation without a lock. */
#include "dsm/release.h"

#include <stddef.h>

#include "dsm/base/enter.h"
#include "dsm/heap/returns.h"
#include "dsm/pages/flush.h"
#include "dsm/pages/pack.h"
#include "dsm/sync/control.h"
#include "dsm/sync/notices.h"
#include "dsm/sync/pack_exchange.h"
#include "dsm/sync/peer_wait.h"

void release_begin(ddsm_t *d)
{
    atomic_fetch_add(&d->control.log->releases, 1);
}

void release_end(ddsm_t *d)
{
    atomic_fetch_add(&d->control.log->releases, 1);
}

/* A pack takes some messages to and fro, and the home's next look. None is made
 * while another thread is in a barrier, as homes have not read the barrier's
 * pack; and in a long reduction, where homes may serve nobody (reduce.c). */
int release_flush(ddsm_t *d)
{
    const bool packs = d->homes_serve && !d->settling && !d->reduces_long;
    int rc = flush_and_leave_hot(d, packs ? PACK_PIECES : 0);
    return rc || !packs || !d->has_pack ? rc : pack_deliver(d);
}

int release_shared(ddsm_t *d)
{
    returns_collect(d);
    int rc = flush(d);
    return rc ? rc : returns_hand_over(d);
}

int release_writes(ddsm_t *d)
{
    if (d->is_shared) {
        atomic_thread_fence(memory_order_seq_cst);
        return release_shared(d);
    }
    returns_collect(d);
    release_begin(d);
    int rc = release_flush(d);
    if (!rc)
        notices_append(d);
    release_end(d);
    return rc ? rc : returns_hand_over(d);
}

int acquire_up_to(ddsm_t *d, const uint64_t *heads)
{
    int rc = 0;
    for (unsigned r = 0; r < d->size && !rc; r++)
        rc = notices_apply(d, r, heads[r], NULL);
    if (!rc)
        rc = notices_end_visits(d);
    if (!rc)
        returns_take(d);
    return rc;
}

/* While a release is under way. Its rank may have died in it. */
static int await_release(ddsm_t *d, unsigned rank, struct peer_wait *peer_wait)
{
    int rc = peer_wait_pause(d, peer_wait);
    if (rc == DRAIL_ETIMEOUT && !d->broken)
        space_break(d, space_fail(d, rc,
                                  "rank %u has not ended a release for %d ms",
                                  rank, d->cfg.wait_ms));
    return rc;
}

/* Its number of releases, and then the end of its log. */
enum { RELEASES, END };
static int read_both(ddsm_t *d, unsigned rank)
{
    enum { OFFSET = offsetof(struct notice_log, releases) };
    _Static_assert(offsetof(struct notice_log, end) ==
                       OFFSET + sizeof(uint64_t),
                   "they are read together");
    return control_read(d, rank, OFFSET, d->control.end, 2 * sizeof(uint64_t));
}

/* Reads how far a rank's log goes. The program may have seen a write of a
 * release that is still under way, and take it for a sign that all of it is
 * there. So this waits for the end of that release, which waits for nobody. */
static int read_end(ddsm_t *d, unsigned rank)
{
    struct peer_wait peer_wait = peer_wait_begin(d);
    const uint64_t *read = d->control.end;
    int rc = read_both(d, rank);
    const uint64_t first = read[RELEASES];
    while (!rc && first % 2 && read[RELEASES] == first) {
        rc = await_release(d, rank, &peer_wait);
        if (!rc)
            rc = read_both(d, rank);
    }
    d->control.ends[rank] = read[END];
    return rc;
}

static int read_ends(ddsm_t *d)
{
    int rc = 0;
    for (unsigned r = 0; r < d->size && !rc; r++)
        if (r != d->rank)
            rc = read_end(d, r);
    return rc;
}

/* Shared pages: what other ranks wrote before is there. */
static int acquire_shared(ddsm_t *d)
{
    atomic_thread_fence(memory_order_seq_cst);
    returns_take(d);
    return 0;
}

static int acquire(ddsm_t *d)
{
    if (d->is_shared)
        return acquire_shared(d);
    int rc = read_ends(d);
    if (!rc)
        rc = release_flush(d);
    return rc ? rc : acquire_up_to(d, d->control.ends);
}

static int enter_and(ddsm_t *d, bool releases, bool acquires)
{
    if (!d)
        return DRAIL_EINVAL;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken;
    if (!rc && releases)
        rc = release_writes(d);
    if (!rc && acquires)
        rc = acquire(d);
    space_leave(d);
    return rc;
}

int ddsm_release(ddsm_t *d)
{
    return enter_and(d, true, false);
}

int ddsm_acquire(ddsm_t *d)
{
    return enter_and(d, false, true);
}

int ddsm_flush(ddsm_t *d)
{
    return enter_and(d, true, true);
}

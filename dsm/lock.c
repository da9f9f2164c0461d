/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks. A lock's home has its word (ticket.h) and, beside it, the vector clock
 * of its last holder: how much of each rank's log that one knew. The next
 * holder reads the logs up to there (lazy release consistency). */
#include <string.h>

#include "dsm/base/enter.h"
#include "dsm/base/rdma.h"
#include "dsm/pages/coalesce.h"
#include "dsm/pages/fetch.h"
#include "dsm/pages/lock_history.h"
#include "dsm/release.h"
#include "dsm/sync/control.h"
#include "dsm/sync/peer_wait.h"
#include "dsm/sync/ticket.h"

static struct lock lock_of(const ddsm_t *d, unsigned id)
{
    return (struct lock){id, id % d->size,
                         d->control.locks_offset +
                             id / d->size * d->control.lock_bytes};
}

/* Ticket numbers wrap, so a remembered ticket may come again. All ranks are
 * told twice a round, before that can happen; then they no longer trust what
 * they remember (is_ours_still). */
static int tell_round(ddsm_t *d, uint32_t ticket)
{
    const uint32_t half = TICKET_MAX >> 1;
    int rc = (ticket & half) == half
                 ? rdma_count_everywhere(d, d->control.ticket_rounds_offset)
                 : 0;
    return rc ? space_break_rails(d, rc, "lock") : 0;
}

/* Takes back an abandoned ticket whose turn has not passed, or a new one. */
static int ask(ddsm_t *d, const struct lock *lock, uint32_t *ticket,
               uint32_t *serving)
{
    struct held *held = &d->held[lock->id];
    if (held->has_abandoned) {
        int rc = ticket_reclaim(d, lock, ticket, serving);
        if (rc != DRAIL_EAGAIN)
            return rc;
        held->has_abandoned = false;
    }
    int rc = ticket_take(d, lock, ticket, serving);
    return rc ? rc : tell_round(d, *ticket);
}

/* Abandons the ticket after a timeout. Without a free slot the queue would
 * stand still at it, so the memory breaks. */
static int give_up(ddsm_t *d, const struct lock *lock, uint32_t ticket,
                   uint32_t serving)
{
    int rc = ticket_abandon(d, lock, ticket);
    if (rc && rc != DRAIL_EAGAIN)
        return rc;
    d->held[lock->id].has_abandoned = true;
    space_fail(d, DRAIL_ETIMEOUT,
               "lock %u: not given back for %d ms; %u were before this one%s",
               lock->id, d->cfg.wait_ms, (ticket - serving) & TICKET_MAX,
               rc ? "; it is lost, as too many have given up" : "");
    return rc ? space_break(d, DRAIL_ETIMEOUT) : DRAIL_ETIMEOUT;
}

static int wait_turn(ddsm_t *d, const struct lock *lock, uint32_t ticket,
                     uint32_t serving)
{
    struct peer_wait peer_wait = peer_wait_begin(d);
    while (serving != ticket) {
        int rc = d->broken ? d->broken : ticket_poll(d, lock, &serving);
        if (rc || serving == ticket)
            return rc;
        rc = peer_wait_pause(d, &peer_wait);
        if (rc == DRAIL_ETIMEOUT && !d->broken)
            return give_up(d, lock, ticket, serving);
        if (rc)
            return rc;
    }
    return 0;
}

/* Invalidates what earlier holders of the lock knew to be written. */
static int learn(ddsm_t *d, const struct lock *lock)
{
    uint64_t *clock = d->control.clock;
    int rc = control_read(d, lock->home, lock->offset + sizeof(uint64_t), clock,
                          d->size * sizeof(uint64_t));
    bool news = false;
    for (unsigned r = 0; r < d->size && !rc; r++)
        news |= r != d->rank && clock[r] > d->vector_clock[r];
    if (!rc && (news || d->visits.count))
        rc = release_flush(d);
    return rc ? rc : acquire_up_to(d, clock);
}

/* Has no other rank held it since this one did? Then its clock has no news. */
static bool is_ours_still(const ddsm_t *d, const struct lock *lock,
                          uint32_t ticket)
{
    const struct held *held = &d->held[lock->id];
    return held->was_held &&
           held->rounds == atomic_load(d->control.ticket_rounds) &&
           ticket == ((held->ticket + 1) & TICKET_MAX);
}

/* Fetches what this rank has used under the lock before. */
static int fetch_past(ddsm_t *d, struct lock_past *past)
{
    const struct page_list list = lock_history_begin(d, past);
    if (!list.count)
        return 0;
    const drail_error_t before = d->error;
    int rc = fetch_list(d, &list, d->under_tests);
    return coalesce_if_full(d, rc, &before);
}

/* It is the turn of this rank's ticket. */
static int hold(ddsm_t *d, const struct lock *lock, uint32_t ticket)
{
    struct held *held = &d->held[lock->id];
    const bool is_ours = is_ours_still(d, lock, ticket);
    int rc = 0;
    if (!is_ours) {
        held->was_held = false;
        rc = learn(d, lock);
    }
    if (rc)
        return rc;
    held->is_held = true;
    held->ticket = ticket;
    return is_ours ? 0 : fetch_past(d, &held->past);
}

static int acquire(ddsm_t *d, const struct lock *lock)
{
    uint32_t ticket, serving;
    int rc = ask(d, lock, &ticket, &serving);
    if (!rc)
        rc = wait_turn(d, lock, ticket, serving);
    return rc ? rc : hold(d, lock, ticket);
}

static int try_acquire(ddsm_t *d, const struct lock *lock)
{
    uint32_t ticket;
    int rc = ticket_try(d, lock, &ticket);
    if (!rc)
        rc = tell_round(d, ticket);
    return rc ? rc : hold(d, lock, ticket);
}

static int tell(ddsm_t *d, const struct lock *lock)
{
    struct held *held = &d->held[lock->id];
    uint64_t *clock = d->control.clock;
    if (held->was_held && held->clock_version == d->clock_version)
        return 0;
    memcpy(clock, d->vector_clock, d->size * sizeof *clock);
    held->clock_version = d->clock_version;
    return control_write(d, lock->home, lock->offset + sizeof(uint64_t), clock,
                         d->size * sizeof *clock);
}

static int release(ddsm_t *d, const struct lock *lock)
{
    struct held *held = &d->held[lock->id];
    lock_history_end(d, &held->past);
    int rc = release_writes(d);
    if (rc)
        return rc;
    rc = tell(d, lock);
    held->is_held = false;
    held->was_held = true;
    held->rounds = atomic_load(d->control.ticket_rounds);
    return rc ? rc : ticket_pass(d, lock, held->ticket);
}

static int checked(ddsm_t *d, unsigned id, const char *what, bool held)
{
    if (d->broken)
        return d->broken;
    if (id >= d->cfg.locks)
        return space_fail(d, DRAIL_EINVAL, "%s: lock %u (allowed: 0 to %u)",
                          what, id, d->cfg.locks - 1);
    if (held && !d->held[id].is_held)
        return space_fail(d, DRAIL_EINVAL,
                          "%s: this rank does not hold lock %u", what, id);
    return 0;
}

static int take(ddsm_t *d, unsigned id, const char *what,
                int (*by)(ddsm_t *d, const struct lock *lock))
{
    if (!d)
        return DRAIL_EINVAL;
    const uint64_t start = space_now_ns();
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = checked(d, id, what, false);
    if (!rc) {
        const struct lock lock = lock_of(d, id);
        rc = by(d, &lock);
    }
    d->stats.locks++;
    d->stats.lock_ns += space_now_ns() - start;
    space_leave(d);
    return rc;
}

int ddsm_lock(ddsm_t *d, unsigned id)
{
    return take(d, id, "ddsm_lock", acquire);
}

int ddsm_trylock(ddsm_t *d, unsigned id)
{
    return take(d, id, "ddsm_trylock", try_acquire);
}

int ddsm_unlock(ddsm_t *d, unsigned id)
{
    if (!d)
        return DRAIL_EINVAL;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = checked(d, id, "ddsm_unlock", true);
    if (!rc) {
        const struct lock lock = lock_of(d, id);
        rc = release(d, &lock);
    }
    space_leave(d);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/progress.h"

#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/attempt.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/heartbeat.h"
#include "dapl_rail/links/failover/loss.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"

#define WAIT_SLICE_US (TURN_MS * 1000u) /* longest between looks at flags */
/* Sleeps on one rail while another may have the next event. */
#define FIRST_SLICE_US  50u
#define SHARED_SLICE_US 1000u
#define ALONE_SLICE_US  10000u /* others may only have to return credits */
#define CHECK_EVENTS    1024u  /* events between calls of progress_check() */
#define OTHERS_TURNS    16u    /* polls of the expected rails per one of all */
#define CHECK_WAITS     1024u  /* waits between calls of progress_check() */
#define CHECK_NS        MS     /* the same, in drail_progress() */
#define POLL_WAITS      128u   /* waits between polls; divides CHECK_WAITS */
#define UNTIL_NAP_NS    50000u
#define KEEN_POLLS      64u /* of the only rail before a wait on its EVD, … */
#define KEEN_LOOKS      16u /* … or looks by the caller, as long as 4 polls */
#define YIELDS_NS       300000u /* of polls with yields, before a sleep */
/* A yield that takes so long has given the core to a program that does not
 * yield: so many waits then sleep at once. */
#define LONG_YIELD_NS  MS
#define SLEEPING_WAITS 256u

/* Looks again: has anything completed since the last look? */
static bool update_completed(struct patience *p)
{
    uint64_t before = p->completed;
    if (p->peer)
        p->completed = peer_completed(p->peer, p->rails);
    return p->completed != before;
}

/* A turn has ended. */
static void count_turn(struct patience *p)
{
    uint64_t now = job_now(p->t->job);
    bool moved = update_completed(p);
    if (p->deadline.at_ns && !moved)
        deadline_turn(&p->deadline, now);
    else
        p->deadline = deadline_after(now, (uint64_t)p->timeout_ms * MS);
    if (!p->checked_ns)
        p->checked_ns = now;
}

int patience_check(struct patience *p)
{
    drail_t *t = p->t;
    if (atomic_load_explicit(&t->interrupted, memory_order_relaxed) ||
        drail_job_interrupted(t->job))
        return DRAIL_EINTR;
    count_turn(p);
    p->checked_ns = p->deadline.looked_ns;
    return deadline_left(&p->deadline) ? 0 : DRAIL_ETIMEOUT;
}

/* May progress_check() wait? Not for long, however many events come. */
static bool may_skip_check(const struct patience *p, unsigned turn)
{
    return turn % CHECK_EVENTS &&
           p->deadline.looked_ns - p->checked_ns < TURN_MS * MS;
}

/* Up to the last check. */
static uint64_t waited_ns(const struct patience *p)
{
    return (uint64_t)p->timeout_ms * MS - deadline_left(&p->deadline);
}

/* How long to sleep now: up to the slice, but not past the deadline. The first
 * turn does not read the clock. */
static unsigned nap_us(struct patience *p, unsigned turn, unsigned slice_us)
{
    uint64_t left = (uint64_t)p->timeout_ms * 1000;
    if (turn > 1 || p->deadline.at_ns) {
        count_turn(p);
        left = deadline_left(&p->deadline);
        left = left ? left / 1000 + 1 : 0;
    }
    return left < slice_us ? (unsigned)left : slice_us;
}

static bool is_unsettled(const drail_t *t)
{
    return atomic_load_explicit(&t->unsettled, memory_order_relaxed);
}

/* The rails on which events of these rails may come: those of a lost link come
 * over others. */
static uint32_t expected(const drail_t *t, uint32_t rails)
{
    return is_unsettled(t) ? all_rails(t) : rails;
}

/* Polls all of the rails, also if one has an error. Inlined: each wait begins
 * with it. */
static inline __attribute__((always_inline)) int poll_rails(drail_t *t,
                                                            uint32_t rails)
{
    int n = 0, error = 0;
    rails = expected(t, rails);
    for (unsigned r = 0; r < t->nrails; r++) {
        if (!(rails & RAIL_BIT(r)))
            continue;
        int rc = rail_poll(&t->rails[r]);
        if (rc > 0)
            n += rc;
        else if (!error)
            error = rc;
    }
    loss_serve(t);
    return error ? error : n;
}

int progress_last_look(drail_t *t, owed_t owed, void *arg, int error)
{
    uint32_t rails;
    for (;;) {
        int n = poll_rails(t, all_rails(t));
        int rc = owed(t, arg, &rails);
        if (rc > 0)
            return 0;
        if (n <= 0)
            return error;
    }
}

int progress_spin(drail_t *t, owed_t owed, void *arg)
{
    uint32_t rails;
    unsigned turn = 0;
    spin_begin(&t->spin);
    do {
        int rc = owed(t, arg, &rails);
        if (rc)
            return rc;
        rc = poll_rails(t, ++turn % OTHERS_TURNS ? rails : all_rails(t));
        if (rc < 0)
            return rc;
    } while (t->spin.max_ns && spin_more(&t->spin));
    return 0;
}

/* Polls the only rail that owes something, as dat_evd_dequeue takes less time
 * than dat_evd_wait. 1 or an error: as owed() says; 0: nothing has come. */
static int poll_keenly(const struct patience *p, uint32_t rails, owed_t owed,
                       void *arg)
{
    drail_t *t = p->t;
    struct rail *rail = &t->rails[__builtin_ctz(rails)];
    for (unsigned i = 0; i < (p->look ? KEEN_LOOKS : KEEN_POLLS); i++) {
        int rc = rail_poll_one(rail);
        loss_serve(t);
        if (rc > 0)
            rc = owed(t, arg, &rails);
        if (rc)
            return rc;
        if (p->look && p->look(t, p->look_arg))
            return 1;
    }
    return 0;
}

/* For a rank that shares its core with those that it waits for: a yield takes
 * less time than a sleep and a wake-up. But beside a program that does not
 * yield, a rank that is woken gets the core sooner. 1 or an error: as owed()
 * says; 0: nothing has come. */
static int poll_with_yields(drail_t *t, uint32_t rails, owed_t owed, void *arg)
{
    const struct drail_platform *platform = t->job->platform;
    if (t->sleeping_waits) {
        t->sleeping_waits--;
        return 0;
    }
    const uint64_t begin = platform_now(platform);
    uint64_t now = begin, polled = begin;
    for (; now - begin < YIELDS_NS && now - polled < LONG_YIELD_NS;
         now = platform_now(platform)) {
        int rc = poll_rails(t, rails);
        if (rc >= 0)
            rc = owed(t, arg, &rails);
        if (rc)
            return rc;
        polled = platform_now(platform);
        platform->yield(platform);
    }
    if (now - polled >= LONG_YIELD_NS)
        t->sleeping_waits = SLEEPING_WAITS;
    return 0;
}

/* Seed 004, fig. 4: rail after rail. */
static bool serial(const drail_t *t)
{
    return t->cfg.waiting == DRAIL_WAITING_SERIAL && t->nrails > 1;
}

/* The rail to sleep on: each in turn, or the first that owes something. */
static unsigned next_rail(const drail_t *t, uint32_t rails, unsigned after)
{
    uint32_t higher = serial(t) ? 0 : rails & ~((RAIL_BIT(after) << 1) - 1);
    return (unsigned)__builtin_ctz(higher ? higher : rails);
}

/* On the only rail: a peer that connects does not wake it. */
static unsigned only_slice(const drail_t *t)
{
    return t->unconnected ? ALONE_SLICE_US : WAIT_SLICE_US;
}

/* The longest sleep on a rail. The adaptive policy measures when each of
 * several was ready. */
static unsigned longest_slice(const drail_t *t, bool alone)
{
    if (t->nrails == 1)
        return only_slice(t);
    if (alone)
        return ALONE_SLICE_US;
    return t->cfg.policy == DRAIL_POLICY_ADAPTIVE ? FIRST_SLICE_US
                                                  : SHARED_SLICE_US;
}

/* A short sleep costs a timer: a rank that leaves its core to others sleeps
 * long. */
static unsigned first_slice(const drail_t *t, uint32_t rails)
{
    if (t->nrails == 1)
        return only_slice(t);
    if (!t->spin.max_ns && !(rails & (rails - 1)))
        return longest_slice(t, true);
    return serial(t) ? SHARED_SLICE_US : FIRST_SLICE_US;
}

/* While links are lost, events come on other rails, too, or wake nobody. */
static unsigned slice_of(const drail_t *t, bool others, unsigned slice)
{
    if (others)
        return FIRST_SLICE_US;
    return is_unsettled(t) && slice > SHARED_SLICE_US ? SHARED_SLICE_US : slice;
}

static unsigned next_slice(unsigned slice, unsigned longest)
{
    return 2 * slice < longest ? 2 * slice : longest;
}

void progress_check(drail_t *t)
{
    for (unsigned r = 0; r < t->nrails; r++)
        rail_check(&t->rails[r]);
    attempts_serve(t);
    heartbeat_check(t);
    loss_serve(t);
}

void progress_step(drail_t *t)
{
    poll_rails(t, all_rails(t));
    progress_check(t);
}

/* Sleeps on the rails that owe something, each in turn. */
static int slumber(drail_t *t, owed_t owed, void *arg, struct patience *p)
{
    unsigned at = DRAIL_MAX_RAILS;
    unsigned slice = 0;
    uint32_t rails;
    for (unsigned i = 1;; i++) {
        int rc = owed(t, arg, &rails);
        if (rc)
            return rc;
        uint32_t owing = rails;
        p->rails = owing;
        rails = expected(t, rails);
        slice =
            slice_of(t, rails != owing, slice ? slice : first_slice(t, rails));
        at = next_rail(t, rails, at);
        bool alone = !(rails & (rails - 1));
        rc = rail_sleep(&t->rails[at], nap_us(p, i, slice));
        /* something may have come on a rail that owes nothing */
        if (rc == 0 || rails != owing)
            rc = poll_rails(t, all_rails(t));
        else if (rc > 0 && i % OTHERS_TURNS == 0)
            poll_rails(t, all_rails(t));
        if (rc < 0)
            return rc;
        if (rc > 0)
            slice = 0; /* other rails may be expected now */
        if (rc > 0 && may_skip_check(p, i))
            continue;
        progress_check(t);
        rc = patience_check(p);
        if (rc)
            return rc;
        slice = next_slice(slice, longest_slice(t, alone));
    }
}

int drail_progress(drail_t *t)
{
    if (!t)
        return DRAIL_EINVAL;
    /* a caller that sleeps between calls calls seldom */
    uint64_t now = job_now(t->job);
    if (now - t->checked_ns >= CHECK_NS) {
        t->checked_ns = now;
        progress_check(t);
    }
    int rc = poll_rails(t, all_rails(t));
    return rc < 0 ? rc : 0;
}

bool progress_may_skip(drail_t *t)
{
    if (is_unsettled(t) || drail_job_interrupted(t->job) ||
        !((t->waits + 1) % POLL_WAITS)) /* other peers' messages must come */
        return false;
    t->waits++;
    return true;
}

/* May the wait begin without a look at all rails? With one rail, poll_keenly()
 * begins at once. A rank that does not poll looks at the only expected rail
 * before it sleeps there; the others have their turn in some of the waits. */
static bool begins_with_one(const struct patience *p, uint32_t rails, bool keen)
{
    const drail_t *t = p->t;
    if (!p->timeout_ms)
        return false;
    if (t->nrails == 1)
        return keen;
    rails = expected(t, rails);
    return !t->spin.max_ns && !(rails & (rails - 1)) &&
           t->waits % OTHERS_TURNS != 0;
}

int progress_wait_on(struct patience *p, owed_t owed, void *arg)
{
    drail_t *t = p->t;
    /* also if no wait ever sleeps */
    if (!(++t->waits % CHECK_WAITS))
        progress_check(t);
    /* events of other rails are for later */
    bool in_turn = serial(t) && p->timeout_ms;
    uint32_t rails = 0;
    bool polls = t->spin.max_ns && !in_turn;
    /* in virtual time all polls find the same */
    bool real = !platform_is_simulated(t->job->platform);
    bool keen = polls && real;
    bool yields = t->polling == DRAIL_POLLING_YIELDING && t->env.spin_us &&
                  real && !in_turn;
    int rc = owed(t, arg, &rails);
    /* puts that were complete when they were posted wait for nothing, but other
     * peers' messages must come */
    if (rc > 0 && !in_turn && !(t->waits % POLL_WAITS))
        poll_rails(t, all_rails(t)); /* an error is for a later wait */
    if (rc == 0 && !in_turn && !begins_with_one(p, rails, keen)) {
        rc = poll_rails(t, all_rails(t));
        if (rc >= 0)
            rc = owed(t, arg, &rails);
    }
    if (rc == 0 && p->timeout_ms == 0)
        return DRAIL_EAGAIN;
    /* also in a rank that never waits for long */
    if (rc == 0 && drail_job_interrupted(t->job))
        rc = DRAIL_EINTR;
    rails = expected(t, rails);
    if (rc == 0 && rails & (rails - 1) && polls) {
        rc = progress_spin(t, owed, arg);
        if (rc == 0)
            rc = slumber(t, owed, arg, p);
        spin_end(&t->spin);
    } else if (rc == 0) {
        if (keen)
            rc = poll_keenly(p, rails, owed, arg);
        else if (yields)
            rc = poll_with_yields(t, rails, owed, arg);
        if (rc == 0)
            rc = slumber(t, owed, arg, p);
    }
    return rc < 0 ? progress_last_look(t, owed, arg, rc) : 0;
}

int progress_wait(drail_t *t, owed_t owed, void *arg, int timeout_ms)
{
    struct patience p = {.t = t, .timeout_ms = timeout_ms};
    return progress_wait_on(&p, owed, arg);
}

int progress_wait_for(const struct peer *peer, owed_t owed, void *arg,
                      int timeout_ms)
{
    struct patience p = {
        .t = peer->owner, .timeout_ms = timeout_ms, .peer = peer};
    return progress_wait_on(&p, owed, arg);
}

/* Polls the rails that no thread has taken: those that the work does not use,
 * and those that have done their part. */
static int others_go_on(struct rail *rail)
{
    drail_t *t = rail->owner;
    int n = 0;
    for (unsigned r = 0; r < t->nrails; r++) {
        struct rail *other = &t->rails[r];
        if (other == rail || !rail_take(other))
            continue;
        int rc = rail_poll(other);
        rail_check(other);
        rail_leave(other);
        n += rc > 0 ? rc
                    : 0; /* an error is for a call that waits for that rail */
    }
    return n;
}

int rail_wait(struct rail *rail, const struct peer *peer, owed_t owed,
              void *arg, int timeout_ms)
{
    drail_t *t = rail->owner;
    uint32_t bit = RAIL_BIT(rail->index), rails;
    struct patience p = {
        .t = t, .timeout_ms = timeout_ms, .peer = peer, .rails = bit};
    unsigned slice = FIRST_SLICE_US;
    for (unsigned i = 1;; i++) {
        int rc = owed(t, arg, &rails);
        if (rc < 0 && rail_poll(rail) > 0)
            continue; /* an error of another rail must not hide events here */
        if (rc || !(rails & bit))
            return rc < 0 ? rc : 0;
        if (is_unsettled(t))
            return WAIT_LEFT;
        rc = rail_sleep(rail, nap_us(&p, i, slice));
        if (rc < 0)
            return rc;
        slice = next_slice(slice, SHARED_SLICE_US);
        if (rc > 0 && may_skip_check(&p, i))
            continue;
        rail_check(rail);
        if (others_go_on(rail))
            slice = FIRST_SLICE_US;
        rc = patience_check(&p);
        if (rc)
            return rc;
        if (heartbeat_is_due(t, waited_ns(&p))) /* ends the threads' work */
            atomic_store_explicit(&t->unsettled, true, memory_order_relaxed);
    }
}

/* Are there closed links to this peer, or to any (NULL)? For any, also: EPs
 * that are still to be released. */
static bool any_closed(const drail_t *t, const struct peer *only)
{
    for (unsigned r = 0; r < t->nrails; r++) {
        if (!only && t->rails[r].releases)
            return true;
        for (const struct link *l = t->rails[r].closed; l; l = l->next_closed)
            if (!only || l->peer == only)
                return true;
    }
    return false;
}

bool progress_until(drail_t *t, bool (*reached)(struct link *link),
                    const struct peer *only, uint32_t rails, int ms)
{
    const struct drail_platform *platform = t->job->platform;
    struct deadline deadline =
        deadline_after(platform_now(platform), (uint64_t)ms * MS);
    for (;;) {
        for (unsigned r = 0; r < t->nrails; r++)
            rail_catch_up(&t->rails[r]); /* before a look at all links */
        loss_serve(t);
        progress_check(t);
        bool left = !reached && any_closed(t, only);
        const struct peer *peer = reached ? only ? only : t->met : NULL;
        for (; peer; peer = only ? NULL : peer->next) {
            struct link *link;
            unsigned at = 0;
            while ((link = peer_next(peer, rails, &at)))
                left |= !reached(link);
        }
        if (!left)
            return true;
        deadline_turn(&deadline, platform_now(platform));
        if (!deadline_left(&deadline))
            return false;
        platform_sleep(platform, UNTIL_NAP_NS);
    }
}

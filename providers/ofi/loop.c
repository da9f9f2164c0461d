/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of the IA's thread. It sleeps until there is an event of a
 * connection, a deadline, a change of the link, the end of a peer's socket, or
 * something in the CQ: libfabric moves data only when the CQ is read. Consumers
 * that poll, or one that sleeps (sleep.c), read the CQ faster. While they do,
 * the thread only looks at them once in a few milliseconds; when they have
 * stopped, it reads the CQ itself.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "dapl_rail/platform/standstill.h"
#include "ofi.h"
#include "providers/core/thread.h"

#define AWAY_NS     1000000u
#define AWAY_MAX_NS 4000000u
#define EVENTS      32
#define POLL_NS     10000 /* a consumer that only polls does so more often */
#define SELDOM_NS   200000
#define JUDGE_NS    200000
#define IN_VAIN     1000    /* setting up a connection needs some */
#define LONGEST     3600000 /* ms */

/* -------------------------------------------------------------- events --- */

static void on_peers_end(struct ofi_ia *oia, uint32_t id)
{
    struct ofi_conn *c = oia->by_id[id % OFI_MAX_EPS];
    if (c && c->id == id)
        atomic_store(&c->failed, true);
}

/* False: the EQ was not among them. */
static bool on_events(struct ofi_ia *oia, const struct epoll_event *events,
                      int n)
{
    bool eq = false;
    for (int i = 0; i < n; i++) {
        uint64_t count;
        switch ((uint32_t)events[i].data.u64) {
        case OFI_WATCH_WAKE:
            (void)!read(oia->wake_fd, &count, sizeof count);
            break;
        case OFI_WATCH_LINK:
            ofi_device_changed(oia);
            break;
        case OFI_WATCH_EQ:
            eq = true;
            break;
        case OFI_WATCH_CONN:
            on_peers_end(oia, (uint32_t)(events[i].data.u64 >> 32));
            break;
        default:
            break;
        }
    }
    return eq;
}

/* -------------------------------------------------------------- the CQ --- */

/* Reads the CQ until the thread may sleep on it. False: something stays in it
 * that reading does not move. */
static bool serve(struct ofi_ia *oia)
{
    bool any, empty;
    do
        empty = ofi_look(oia, &any);
    while (any && !empty);
    return empty;
}

struct minding {
    uint64_t polls, when, used; /* at the last judgement, … */
    bool polled;                /* … which found that consumers poll */
    uint64_t away_ns;           /* until the next look */
    unsigned in_vain; /* times in a row that the EQ was signalled and empty */
};

/* CPU time of all threads of the process. */
static uint64_t process_ns(void)
{
    return busywait_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Do consumers poll all the time that they have a core? That time is at most
 * what the process has had, and at most what has passed. A consumer that polls
 * memory instead, where the peer writes, needs the thread as much as one that
 * computes; so does one that sleeps elsewhere, or that gets a core too seldom.
 * A time just after the last judgement says nothing: a consumer that polls
 * between messages makes few polls in it. */
static void judge(struct ofi_ia *oia, struct minding *m)
{
    uint64_t polls = atomic_load_explicit(&oia->polls, memory_order_relaxed);
    uint64_t now = busywait_now_ns();
    uint64_t passed = now - m->when;
    if (passed < JUDGE_NS)
        return;
    uint64_t used = process_ns(), n = polls - m->polls;
    uint64_t had = used - m->used < passed ? used - m->used : passed;
    m->polled = n > had / POLL_NS && n > passed / SELDOM_NS;
    m->polls = polls;
    m->when = now;
    m->used = used;
}

/* Do consumers read the CQ, by sleeping on it or by polling? If other threads
 * sleep on bells for its completions, the pollers do not serve them. */
static bool consumers_read(struct ofi_ia *oia, struct minding *m)
{
    judge(oia, m);
    return atomic_load(&oia->watched) ||
           (m->polled && !atomic_load(&oia->sleepers));
}

/* Lets a sleeper that has watched the CQ for long do without the thread. False:
 * there is none. */
static bool try_rest(struct ofi_ia *oia, const struct minding *m)
{
    if (m->away_ns < AWAY_MAX_NS)
        return false;
    atomic_store(&oia->rests, true);
    if (atomic_load(&oia->watched))
        return true;
    atomic_store(&oia->rests, false);
    return false;
}

static void end_bursts(struct ofi_ia *oia)
{
    if (!atomic_load(&oia->corked))
        return;
    pthread_mutex_lock(&oia->cq_lock);
    ofi_bursts_end(oia);
    pthread_mutex_unlock(&oia->cq_lock);
}

/* Ends what consumers began while they saw the last state of `away` or `rests`.
 */
static void settle(struct ofi_ia *oia)
{
    end_bursts(oia);
    pthread_mutex_lock(&oia->cq_lock);
    ofi_signal_unmute(oia);
    pthread_mutex_unlock(&oia->cq_lock);
}

/* Decides which threads read the CQ: consumers, or this one, which then waits
 * for it. */
static void mind_cq(struct ofi_ia *oia, struct minding *m)
{
    atomic_store(&oia->rests, false);
    atomic_store(&oia->away, true); /* consumers wake it from here on */
    end_bursts(oia);
    if (!consumers_read(oia, m) && serve(oia)) {
        atomic_store(&oia->away, false);
        m->away_ns = 0;
        ofi_thread_await_cq(oia);
        settle(oia);
        return;
    }
    if (try_rest(oia, m)) {
        m->away_ns = 0;
        settle(oia);
        return;
    }
    m->away_ns = m->away_ns ? 2 * m->away_ns : AWAY_NS;
    if (m->away_ns > AWAY_MAX_NS)
        m->away_ns = AWAY_MAX_NS;
}

/* ------------------------------------------------------------- the rest --- */

/* Looks at all connections and listeners; returns when to look again. */
static uint64_t mind_conns(struct ofi_ia *oia)
{
    uint64_t now = busywait_now_ns(), next = ofi_listeners_look(oia, now);
    uint64_t still = standstill_since(oia->look_at, now);
    for (struct ofi_conn *c = oia->conns, *n; c; c = n) {
        n = c->next;
        if (c->deadline != UINT64_MAX) {
            c->deadline += still;
            next = now + STANDSTILL_LOOK_NS < next ? now + STANDSTILL_LOOK_NS
                                                   : next;
        }
        uint64_t look = ofi_conn_look(c, now);
        next = look < next ? look : next;
    }
    return oia->look_at = next;
}

/* How long it may sleep, in ms; -1: for ever. */
static int sleep_ms(struct ofi_ia *oia, const struct minding *m, uint64_t next)
{
    struct fid *eq = &oia->eq->fid;
    uint64_t now = busywait_now_ns();
    if (m->away_ns && now + m->away_ns < next)
        next = now + m->away_ns;
    if (next <= now || fi_trywait(oia->fabric, &eq, 1))
        return 0;
    if (next == UINT64_MAX)
        return -1;
    uint64_t ms = (next - now + 999999) / 1000000;
    return ms > LONGEST ? LONGEST : (int)ms;
}

void *ofi_loop(void *arg)
{
    struct ofi_ia *oia = arg;
    struct epoll_event events[EVENTS];
    struct minding m = {0};
    core_cancel_off();
    core_thread_short_slices();
    core_ia_lock(oia->ia);
    while (!oia->stop) {
        m.in_vain = ofi_cm_events(oia) ? 0 : m.in_vain;
        uint64_t next = mind_conns(oia);
        core_ia_unlock(oia->ia);
        mind_cq(oia, &m);
        /* a connection that can't be accepted, for want of descriptors, stays
         * there */
        if (m.in_vain > IN_VAIN)
            poll(NULL, 0, 1);
        int n =
            epoll_wait(oia->epoll_fd, events, EVENTS, sleep_ms(oia, &m, next));
        core_ia_lock(oia->ia);
        m.in_vain += on_events(oia, events, n);
    }
    core_ia_unlock(oia->ia);
    return NULL;
}

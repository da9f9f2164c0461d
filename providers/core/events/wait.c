/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: poll for a moment, then yield the core between polls, then sleep.
 * The yields let a process run that this one waits for, if there are more
 * processes than cores. How long they last depends on how long waits on this IA
 * have been (busywait.h).
 */
#include <errno.h>
#include <unistd.h>

#include "dapl_rail/platform/busywait.h"
#include "providers/core/internal.h"

#define PAUSE_NS     3000 /* time for a cache line's way and a short handler */
#define YIELD_MAX_NS 300000 /* some times a sleep and a wake-up */
#define YIELD_MIN_NS 1000
#define WANTED_NS    1000     /* a longer yield has let another thread run */
#define CLOCK_EVERY  16       /* polls per clock reading */
#define NAP_NS       10000000 /* a sleep that no event ends: see has_others */
#define OVERSLEEP_NS 500000   /* poll rather than sleep if due this soon */

/* Polls until ready or `until`. */
static bool poll_until(struct core_waiter *w, uint64_t until)
{
    int turns = w->ia->transport->in_kernel ? 1 : CLOCK_EVERY;
    do {
        for (int i = 0; i < turns; i++)
            if (w->ready(w))
                return true;
    } while (busywait_now_ns() < until);
    return false;
}

/* The same with yields. If the events come through the kernel, and a yield has
 * let another thread run without bringing the event, further polls would only
 * keep the core from others: false. */
static bool yield_until(struct core_waiter *w, uint64_t until)
{
    uint64_t now;
    do {
        if (w->ready(w))
            return true;
        uint64_t before = busywait_now_ns();
        sched_yield();
        now = busywait_now_ns();
        if (w->ia->transport->in_kernel && now - before > WANTED_NS)
            return false;
    } while (now < until);
    return false;
}

static bool serves(const struct core_waiter *w, const struct core_evd *evd)
{
    return evd && (w->evd ? w->evd == evd : atomic_load(&evd->cno) == w->cno);
}

/* The next connection of the set, from place *at on, that feeds what is waited
 * for (@p feeds), or that does not; NULL: there is none. */
static struct core_ep *next_ep(const struct core_waiter *w,
                               struct core_epset *set, unsigned *at, bool feeds)
{
    struct core_ep *ep;
    pthread_mutex_lock(&w->ia->bell_lock);
    while ((ep = core_epset_next(set, at)))
        if ((serves(w, ep->recv_evd) || serves(w, ep->request_evd)) == feeds)
            break;
    pthread_mutex_unlock(&w->ia->bell_lock);
    return ep;
}

static bool has_ep(const struct core_waiter *w, bool feeds)
{
    unsigned at = 0;
    return next_ep(w, &w->ia->eps, &at, feeds) != NULL;
}

static bool is_fed(const struct core_waiter *w)
{
    return has_ep(w, true);
}

/* Other connections, whose peers do not wake this waiter. An adapter would
 * serve them; here a thread must: of the transport, or this one. */
static bool has_others(const struct core_waiter *w)
{
    if (w->ia->transport->in_kernel)
        return false;
    if (w->evd) /* quick, where there are thousands of connections */
        return atomic_load(&w->ia->eps.count) !=
               atomic_load(&w->evd->eps.count);
    return has_ep(w, false);
}

/* The earliest time after @p seen at which something is due that the waiter
 * waits for. */
static uint64_t next_due(const struct core_waiter *w, uint64_t seen)
{
    const struct core_transport *t = w->ia->transport;
    struct core_epset *set = core_polled(w->ia, NULL);
    struct core_ep *ep;
    uint64_t next = UINT64_MAX;
    if (t->ia_next_due)
        return t->ia_next_due(w->ia, seen);
    for (unsigned at = 0; t->next_due && (ep = next_ep(w, set, &at, true));) {
        uint64_t due = t->next_due(ep, seen);
        next = due < next ? due : next;
    }
    return next;
}

static void abandon(void *waiter)
{
    struct core_waiter *w = waiter;
    core_bell_give(w);
    atomic_store(w->waiting, false);
}

/* Sleeps until the bell is rung or the time is over: 0 or EINTR. The thread can
 * be cancelled here and nowhere else, if its caller allowed it. */
static int sleep_ns(struct core_waiter *w, bool fed, uint64_t ns)
{
    int err;
    pthread_cleanup_push(abandon, w);
    core_cancel_as(w->cancel_state | CORE_CANCEL_ANYWHERE);
    if (w->bell)
        err = w->ia->transport->sleep(w->ia, w->bell, fed, ns);
    else
        err = usleep((useconds_t)(ns / 1000)) ? EINTR : 0;
    core_cancel_off();
    pthread_cleanup_pop(0);
    return err;
}

/* Sleeps once at most. 0: ready; EAGAIN: not yet; EINTR; ETIMEDOUT. */
static int sleep_once(struct core_waiter *w, uint64_t end)
{
    int err = 0;
    uint64_t seen = busywait_now_ns();
    /* A wait whose time is over will not sleep. A bell would interrupt the
     * cores of all peers. */
    bool rung = seen < end && core_bell_take(w);
    core_poll(w->ia, NULL, true);
    core_poll_some(w->ia, true);
    bool done = w->ready(w);
    uint64_t due = next_due(w, seen), now = busywait_now_ns(), until = end;
    bool soon = due != UINT64_MAX && due < now + OVERSLEEP_NS;
    if (due != UINT64_MAX && due - OVERSLEEP_NS < until)
        until = due - OVERSLEEP_NS;
    bool others = has_others(w);
    if ((!rung || others) && now + NAP_NS < until)
        until = now + NAP_NS;
    if (w->ia->collectives && !done)
        core_collectives_rest(w->ia, w->evd);
    if (!done && !soon && now < end)
        err = sleep_ns(w, is_fed(w), until == UINT64_MAX ? until : until - now);
    core_bell_give(w);
    if (done || w->ready(w))
        return 0;
    if (soon &&
        yield_until(w, now + OVERSLEEP_NS < end ? now + OVERSLEEP_NS : end))
        return 0;
    if (!err)
        err = now >= end ? ETIMEDOUT : EAGAIN;
    return err;
}

static int yield_and_sleep(struct core_waiter *w, uint64_t end,
                           uint32_t patience)
{
    uint64_t until = busywait_now_ns() + patience;
    if (patience && yield_until(w, until < end ? until : end))
        return 0;
    int err;
    while ((err = sleep_once(w, end)) == EAGAIN)
        ;
    return err;
}

/* A wait that ended without its event was polled in vain, however short. */
static void learn(struct core_ia *ia, uint32_t patience, bool served,
                  uint64_t took)
{
    uint64_t next = busywait_limit_after(patience, YIELD_MAX_NS,
                                         served ? took : UINT64_MAX);
    atomic_store_explicit(&ia->patience_ns,
                          next < YIELD_MIN_NS ? 0 : (unsigned)next,
                          memory_order_relaxed);
}

static DAT_RETURN outcome(int err)
{
    if (!err)
        return DAT_SUCCESS;
    return CORE_ERROR(err == EINTR ? DAT_INTERRUPTED_CALL : DAT_TIMEOUT_EXPIRED,
                      0);
}

/* Waits by the transport's clock. */
static DAT_RETURN wait_there(struct core_waiter *w, DAT_TIMEOUT timeout)
{
    uint64_t ns =
        timeout == DAT_TIMEOUT_INFINITE ? UINT64_MAX : (uint64_t)timeout * 1000;
    return outcome(w->ia->transport->wait(w->ia, w, w->ready, ns));
}

DAT_RETURN core_wait(struct core_waiter *w, DAT_TIMEOUT timeout)
{
    if (w->ready(w))
        return DAT_SUCCESS;
    if (w->ia->transport->wait)
        return wait_there(w, timeout);
    if (!timeout)
        return CORE_ERROR(DAT_TIMEOUT_EXPIRED, 0);
    uint64_t start = busywait_now_ns(), until = start + PAUSE_NS;
    uint64_t end = timeout == DAT_TIMEOUT_INFINITE
                       ? UINT64_MAX
                       : start + (uint64_t)timeout * 1000;
    if (poll_until(w, until < end ? until : end))
        return DAT_SUCCESS;
    uint32_t patience =
        atomic_load_explicit(&w->ia->patience_ns, memory_order_relaxed);
    int err = yield_and_sleep(w, end, patience);
    learn(w->ia, patience, !err, busywait_now_ns() - start);
    return outcome(err);
}

bool core_wait_begin(struct core_waiter *w)
{
    w->cancel_state = core_cancel_off();
    if (!atomic_exchange_explicit(w->waiting, true, memory_order_acquire))
        return true;
    core_cancel_as(w->cancel_state);
    return false;
}

void core_wait_end(struct core_waiter *w)
{
    atomic_store_explicit(w->waiting, false, memory_order_release);
    core_cancel_as(w->cancel_state);
}

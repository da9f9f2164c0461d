/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event Dispatchers: bounded queues with many producers (event.c) and one
 * consumer. To find events that come over connections, a poll makes progress of
 * the EPs of the EVD; if that finds something, it takes no lock and makes no
 * system call.
 */
#include <sys/mman.h>

#include "providers/core/events/evd_ring.h"

#define LOOK_EVERY 1024 /* polls in a row without an event */
#define EVD_STREAMS                                                            \
    (DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DEFAULT_FLAG |                            \
     (int)DAT_IB_EVD_EXTENSION_FLAG)

/* --------------------------------------------------------------- queue --- */

static void ring_free(struct core_evd_ring *r)
{
    munmap(r, r->size);
}

/* An empty queue begins anew at its first slot, so that only as many slots are
 * touched as are full at one time. */
static void ring_rewind(struct core_evd_ring *r)
{
    uint64_t used = atomic_load_explicit(&r->tail, memory_order_relaxed);
    uint64_t slots = used <= r->mask ? used : r->mask + 1;
    if (used != atomic_load_explicit(&r->head, memory_order_relaxed))
        return;
    for (uint64_t i = 0; i < slots; i++)
        atomic_store_explicit(&r->slot[i].turn, 0, memory_order_relaxed);
    atomic_store_explicit(&r->head, 0, memory_order_relaxed);
    atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
}

static bool ring_get(struct core_evd_ring *r, DAT_EVENT *event)
{
    uint64_t pos = atomic_load_explicit(&r->head, memory_order_relaxed);
    if (!core_ring_full_at(r, pos))
        return false;
    struct core_evd_slot *s = &r->slot[pos & r->mask];
    core_event_copy(event, &s->event);
    atomic_store_explicit(&s->turn, (pos & ~r->mask) + r->mask + 1,
                          memory_order_release);
    atomic_store_explicit(&r->head, pos + 1, memory_order_release);
    if (r->rewinds)
        ring_rewind(r);
    return true;
}

static bool evd_take_any(struct core_evd *evd, DAT_EVENT *event)
{
    for (struct core_evd_ring *r = evd->first; r; r = core_ring_next(r))
        if (ring_get(r, event))
            return true;
    return false;
}

/* Usually there is one queue, and it is empty. */
static inline bool evd_take(struct core_evd *evd, DAT_EVENT *event)
{
    struct core_evd_ring *r = evd->first;
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    return (core_ring_full_at(r, head) || core_ring_next(r)) &&
           evd_take_any(evd, event);
}

static DAT_COUNT evd_count(struct core_evd *evd)
{
    uint64_t n = 0;
    for (struct core_evd_ring *r = evd->first; r; r = core_ring_next(r))
        n += atomic_load_explicit(&r->tail, memory_order_acquire) -
             atomic_load_explicit(&r->head, memory_order_acquire);
    return (DAT_COUNT)n;
}

static void evd_progress(struct core_evd *evd)
{
    core_poll(evd->o.ia, evd, false);
}

/* ------------------------------------------------- creation, attributes --- */

static void evd_destroy(void *object)
{
    struct core_evd *evd = object;
    struct core_cno *cno = atomic_load(&evd->cno);
    if (cno)
        core_unref(&cno->o);
    core_epset_free(&evd->eps);
    core_epset_free(&evd->polled);
    for (struct core_evd_ring *r = evd->first, *next; r; r = next) {
        next = core_ring_next(r);
        ring_free(r);
    }
    core_object_free(evd);
}

/* Moves an event, which no other thread sees. */
static void slot_move(struct core_evd_ring *r, uint64_t from, uint64_t to)
{
    struct core_evd_slot *f = &r->slot[from & r->mask];
    struct core_evd_slot *t = &r->slot[to & r->mask];
    core_event_copy(&t->event, &f->event);
    t->silent = f->silent;
    atomic_store(&f->turn, from & ~r->mask);
    atomic_store(&t->turn, (to & ~r->mask) + 1);
}

/* Threads of the parent may have been adding or taking an event: removes the
 * first, forgets the second. */
static void ring_forked(struct core_evd_ring *r)
{
    uint64_t at = atomic_load(&r->head), tail = atomic_load(&r->tail);
    if (atomic_load(&r->slot[at & r->mask].turn) > (at & ~r->mask) + 1)
        atomic_store(&r->head, ++at);
    uint64_t end = at;
    for (; at != tail; at++)
        if (core_ring_full_at(r, at)) {
            if (at != end)
                slot_move(r, at, end);
            end++;
        }
    atomic_store(&r->tail, end);
}

/* Threads of the parent that waited, slept, or added an event do not exist
 * here. */
static void evd_forked(void *object)
{
    struct core_evd *evd = object;
    for (struct core_evd_ring *r = evd->first; r; r = core_ring_next(r))
        ring_forked(r);
    atomic_store(&evd->waiting, false);
    atomic_store(&evd->poller, 0);
    atomic_store(&evd->bells, 0);
    evd->bell = 0;
}

static const struct core_kind evd_kind = {
    .type = DAT_HANDLE_TYPE_EVD, .destroy = evd_destroy, .forked = evd_forked};

DAT_RETURN core_evd_new(struct core_ia *ia, DAT_COUNT qlen,
                        struct core_cno *cno, DAT_EVD_FLAGS flags,
                        struct core_evd **out)
{
    struct core_evd *evd = core_object_new(ia, &evd_kind, sizeof *evd);
    struct core_evd_ring *ring =
        core_evd_ring_new(qlen > 0 ? (uint64_t)qlen : 1, ia->transport);
    if (!evd || !ring) {
        if (ring)
            ring_free(ring);
        if (evd)
            core_object_free(evd);
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    }
    evd->flags = flags;
    atomic_store(&evd->qlen, core_evd_room(qlen > 0 ? (uint64_t)qlen : 1));
    evd->first = ring;
    atomic_store(&evd->ring, ring);
    atomic_store(&evd->enabled, true);
    atomic_store(&evd->waitable, true);
    if (cno) {
        atomic_store(&evd->cno, cno);
        core_ref(&cno->o);
    }
    *out = evd;
    return DAT_SUCCESS;
}

DAT_RETURN core_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT qlen,
                           DAT_CNO_HANDLE cno_handle, DAT_EVD_FLAGS flags,
                           DAT_EVD_HANDLE *out)
{
    struct core_ia *ia = core_ia_get(ia_handle);
    struct core_cno *cno = NULL;
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (qlen <= 0 || qlen > CORE_MAX_EVD_QLEN)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (cno_handle != DAT_HANDLE_NULL) {
        cno = core_object_get(cno_handle, DAT_HANDLE_TYPE_CNO);
        if (!cno || cno->o.ia != ia)
            return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
    }
    if (!flags || (flags & ~EVD_STREAMS))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);

    struct core_evd *evd = NULL;
    DAT_RETURN ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
    core_ia_lock(ia);
    if (ia->count[DAT_HANDLE_TYPE_EVD] < 2 * ia->can.max_eps)
        ret = core_evd_new(ia, qlen, cno, flags, &evd);
    core_ia_unlock(ia);
    if (ret == DAT_SUCCESS)
        *out = evd;
    return ret;
}

DAT_RETURN core_evd_query(DAT_EVD_HANDLE handle, DAT_EVD_PARAM_MASK mask,
                          DAT_EVD_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_EVD,
                                      mask & ~DAT_EVD_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_evd *evd = handle;
    param->ia_handle = evd->o.ia;
    param->evd_qlen = (DAT_COUNT)atomic_load(&evd->qlen);
    param->evd_state =
        (DAT_EVD_STATE)((atomic_load(&evd->enabled) ? DAT_EVD_STATE_ENABLED
                                                    : DAT_EVD_STATE_DISABLED) |
                        (atomic_load(&evd->waitable)
                             ? DAT_EVD_STATE_WAITABLE
                             : DAT_EVD_STATE_UNWAITABLE) |
                        DAT_EVD_STATE_CONFIG_NOTIFY);
    param->cno_handle = atomic_load(&evd->cno);
    param->evd_flags = evd->flags;
    return DAT_SUCCESS;
}

/* The bells of the EVD's sleepers, which may have changed. */
static void evd_look_again(struct core_evd *evd)
{
    core_evd_bells(evd);
    core_fence_light(core_fence_asymmetric);
    core_ring(evd->o.ia, atomic_load(&evd->bells));
}

DAT_RETURN core_evd_modify_cno(DAT_EVD_HANDLE handle, DAT_CNO_HANDLE to)
{
    struct core_evd *evd = core_evd_get(handle);
    struct core_cno *cno = NULL;
    if (!evd)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    if (to != DAT_HANDLE_NULL) {
        cno = core_object_get(to, DAT_HANDLE_TYPE_CNO);
        if (!cno || cno->o.ia != evd->o.ia)
            return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
        core_ref(&cno->o);
    }
    struct core_cno *old = atomic_exchange(&evd->cno, cno);
    if (old)
        core_unref(&old->o);
    if (cno && evd_count(evd) > 0)
        atomic_store(&evd->triggered, true);
    evd_look_again(evd);
    return DAT_SUCCESS;
}

static DAT_RETURN evd_set(DAT_EVD_HANDLE handle, size_t member, bool value)
{
    struct core_evd *evd = core_evd_get(handle);
    if (!evd)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    atomic_store((atomic_bool *)((char *)evd + member), value);
    if (evd_count(evd) > 0 && atomic_load(&evd->cno))
        atomic_store(&evd->triggered, true);
    evd_look_again(evd);
    return DAT_SUCCESS;
}

DAT_RETURN core_evd_enable(DAT_EVD_HANDLE handle)
{
    return evd_set(handle, offsetof(struct core_evd, enabled), true);
}

DAT_RETURN core_evd_disable(DAT_EVD_HANDLE handle)
{
    return evd_set(handle, offsetof(struct core_evd, enabled), false);
}

DAT_RETURN core_evd_set_unwaitable(DAT_EVD_HANDLE handle)
{
    return evd_set(handle, offsetof(struct core_evd, waitable), false);
}

DAT_RETURN core_evd_clear_unwaitable(DAT_EVD_HANDLE handle)
{
    return evd_set(handle, offsetof(struct core_evd, waitable), true);
}

DAT_RETURN core_evd_resize(DAT_EVD_HANDLE handle, DAT_COUNT qlen)
{
    struct core_evd *evd = core_evd_get(handle);
    if (!evd)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    if (qlen <= 0 || qlen > CORE_MAX_EVD_QLEN)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (qlen < evd_count(evd))
        return CORE_ERROR(DAT_INVALID_STATE, 0);
    if ((uint64_t)qlen > atomic_load(&evd->qlen))
        atomic_store(&evd->qlen, core_evd_room((uint64_t)qlen));
    return DAT_SUCCESS;
}

DAT_RETURN core_evd_free(DAT_EVD_HANDLE handle)
{
    struct core_evd *evd = core_evd_get(handle);
    if (!evd)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    struct core_ia *ia = evd->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_collectives_reap(ia, false);
    core_ia_lock(ia);
    if (atomic_load(&evd->o.refs) || atomic_load(&evd->waiting))
        ret = CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
    else
        evd_destroy(evd);
    core_ia_unlock(ia);
    return ret;
}

/* ---------------------------------------------------------- consumption --- */

static inline DAT_RETURN evd_taken(struct core_evd *evd, const DAT_EVENT *event)
{
    struct core_ia *ia = evd->o.ia;
    if (ia->transport->taken)
        ia->transport->taken(ia, event);
    return DAT_SUCCESS;
}

/* Makes progress. True: that has brought an event, which it has filled in. */
static bool evd_progress_into(struct core_evd *evd, DAT_EVENT *event)
{
    atomic_store_explicit(&evd->wanted, event, memory_order_relaxed);
    atomic_store_explicit(&evd->poller, core_evd_self(), memory_order_relaxed);
    evd_progress(evd);
    bool filled = !atomic_load_explicit(&evd->poller, memory_order_relaxed);
    atomic_store_explicit(&evd->poller, 0, memory_order_relaxed);
    atomic_store_explicit(&evd->wanted, NULL, memory_order_relaxed);
    return filled;
}

DAT_RETURN core_evd_dequeue(DAT_EVD_HANDLE handle, DAT_EVENT *event)
{
    struct core_evd *evd = core_evd_get(handle);
    if (!evd)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    if (!event)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    /* one consumer at a time: the event belongs to the waiter */
    if (atomic_load_explicit(&evd->waiting, memory_order_acquire))
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
    if (evd_take(evd, event))
        return evd_taken(evd, event);
    if (evd_progress_into(evd, event) || evd_take(evd, event))
        return evd_taken(evd, event);
    /* A thread that polls without success also makes progress of the other
     * connections, now and then. */
    if (++evd->polls % LOOK_EVERY == 0) {
        core_poll(evd->o.ia, NULL, false);
        core_poll_some(evd->o.ia, false);
    }
    if (evd->o.ia->transport->idle)
        evd->o.ia->transport->idle(evd->o.ia);
    /* Without the error class, like verbs providers: the genuine `dtest -p`
     * compares with the type alone. */
    return DAT_QUEUE_EMPTY;
}

DAT_RETURN core_evd_post_se(DAT_EVD_HANDLE handle, const DAT_EVENT *event)
{
    struct core_evd *evd = core_evd_get(handle);
    if (!evd)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    if (!event || event->event_number != DAT_SOFTWARE_EVENT)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!(evd->flags & DAT_EVD_SOFTWARE_FLAG))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    /* Refuses the event instead of losing it: its consumer learns that here. */
    return core_evd_try(evd, event) ? CORE_ERROR(DAT_QUEUE_FULL, 0)
                                    : DAT_SUCCESS;
}

struct evd_wait {
    struct core_waiter w;
    DAT_COUNT threshold;
    bool entered;
    /* events from here on arrived after the wait began */
    struct core_evd_ring *ring;
    uint64_t at;
};

/* Has an event arrived that ends a wait? Unsignalled and unsolicited
 * completions count towards the threshold, but do not end a wait that has
 * begun. */
static bool evd_news(struct evd_wait *w)
{
    while (core_ring_full_at(w->ring, w->at) &&
           w->ring->slot[w->at & w->ring->mask].silent)
        w->at++;
    for (struct core_evd_ring *r = w->ring; r; r = core_ring_next(r)) {
        uint64_t at = r == w->ring ? w->at : 0;
        uint64_t end = atomic_load_explicit(&r->tail, memory_order_acquire);
        /* a slow producer must not hide the event behind its own */
        for (; at < end; at++)
            if (core_ring_full_at(r, at) && !r->slot[at & r->mask].silent)
                return true;
    }
    return false;
}

static bool evd_ready(struct core_waiter *waiter)
{
    struct evd_wait *w = (struct evd_wait *)waiter;
    struct core_evd *evd = waiter->evd;
    if (!atomic_load_explicit(&evd->waitable, memory_order_relaxed))
        return true;
    evd_progress(evd);
    bool first = !w->entered;
    w->entered = true;
    return evd_count(evd) >= w->threshold && (first || evd_news(w));
}

DAT_RETURN core_evd_wait(DAT_EVD_HANDLE handle, DAT_TIMEOUT timeout,
                         DAT_COUNT threshold, DAT_EVENT *event,
                         DAT_COUNT *n_more)
{
    struct core_evd *evd = core_evd_get(handle);
    if (!evd)
        return CORE_ERROR(DAT_INVALID_HANDLE, 0);
    if (threshold <= 0 || (uint64_t)threshold > atomic_load(&evd->qlen))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!event)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!n_more)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (!atomic_load(&evd->waitable))
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);

    struct evd_wait w = {.w = {.ia = evd->o.ia,
                               .evd = evd,
                               .ready = evd_ready,
                               .waiting = &evd->waiting},
                         .threshold = threshold,
                         .ring = atomic_load(&evd->ring)};
    w.at = atomic_load(&w.ring->tail);
    if (!core_wait_begin(&w.w))
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
    DAT_RETURN ret = core_wait(&w.w, timeout);
    if (ret == DAT_SUCCESS && !atomic_load(&evd->waitable))
        ret = CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
    /* A counted event may be published a few instructions later. */
    if (ret == DAT_SUCCESS)
        while (!evd_take(evd, event))
            sched_yield();
    *n_more = evd_count(evd);
    if (ret == DAT_SUCCESS)
        evd_taken(evd,
                  event); /* from here on, another thread may free the EVD */
    core_wait_end(&w.w);
    return ret;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adding events to EVDs; and the asynchronous events of an IA, which may go to
 * an EVD of another IA that is closed earlier.
 */
#include <sys/mman.h>

#include "providers/core/events/evd_ring.h"
#include "providers/core/segments.h"

/* --------------------------------------------------------------- queue --- */

#define FIRST_ROOM 256u /* events; a larger queue follows a full one */

uint64_t core_evd_room(uint64_t qlen)
{
    uint64_t cap = 2; /* with one slot, empty and full would look the same */
    while (cap < qlen)
        cap *= 2;
    return cap;
}

static struct core_evd_ring *ring_new(uint64_t cap, bool rewinds)
{
    size_t size =
        sizeof(struct core_evd_ring) + cap * sizeof(struct core_evd_slot);
    struct core_evd_ring *r = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r == MAP_FAILED)
        return NULL;
    r->size = size;
    r->mask = cap - 1;
    r->rewinds = rewinds;
    return r;
}

/* A queue has room for the worst case of all connections, and each event takes
 * the next slot. To touch only as much memory as events need at one time, a
 * queue begins anew whenever it is empty, or, with several threads, begins
 * short and grows. */
struct core_evd_ring *core_evd_ring_new(uint64_t qlen,
                                        const struct core_transport *t)
{
    uint64_t cap = core_evd_room(qlen);
    if (!t->one_thread && cap > FIRST_ROOM)
        cap = FIRST_ROOM;
    return ring_new(cap, t->one_thread);
}

/* The queue is full: adds a larger one behind it, to which producers and the
 * consumer move on. NULL: out of memory, or it has its full size. */
static struct core_evd_ring *ring_after(struct core_evd *evd,
                                        struct core_evd_ring *r)
{
    struct core_evd_ring *next = core_ring_next(r), *none = NULL;
    if (!next && r->mask + 1 < atomic_load(&evd->qlen) &&
        (next = ring_new(2 * (r->mask + 1), r->rewinds)) &&
        !atomic_compare_exchange_strong(&r->next, &none, next)) {
        munmap(next, next->size); /* another producer was first */
        next = none;
    }
    if (next)
        atomic_compare_exchange_strong(&evd->ring, &r, next);
    return next;
}

/* A slot that belongs to this producer until ring_publish; NULL: all are full.
 */
static inline __attribute__((always_inline)) struct core_evd_slot *
ring_claim(struct core_evd_ring *r)
{
    uint64_t pos = atomic_load_explicit(&r->tail, memory_order_relaxed);
    for (;;) {
        struct core_evd_slot *s = &r->slot[pos & r->mask];
        uint64_t lap = pos & ~r->mask;
        uint64_t turn = atomic_load_explicit(&s->turn, memory_order_acquire);
        if (turn == lap) {
            if (atomic_compare_exchange_weak_explicit(&r->tail, &pos, pos + 1,
                                                      memory_order_relaxed,
                                                      memory_order_relaxed))
                return s;
        } else if (turn < lap) {
            return NULL;
        } else {
            pos = atomic_load_explicit(&r->tail, memory_order_relaxed);
        }
    }
}

/* not inlined: rare */
static __attribute__((noinline)) struct core_evd_slot *
claim_behind(struct core_evd *evd, struct core_evd_ring *r)
{
    struct core_evd_slot *s = NULL;
    while (!s && (r = ring_after(evd, r)))
        s = ring_claim(r);
    return s;
}

static inline struct core_evd_slot *evd_claim(struct core_evd *evd)
{
    struct core_evd_ring *r =
        atomic_load_explicit(&evd->ring, memory_order_acquire);
    struct core_evd_slot *s = ring_claim(r);
    return __builtin_expect(s != NULL, 1) ? s : claim_behind(evd, r);
}

static void ring_publish(struct core_evd_slot *s, struct core_evd *evd,
                         bool silent)
{
    s->event.evd_handle = evd;
    s->silent = silent;
    uint64_t lap = atomic_load_explicit(&s->turn, memory_order_relaxed);
    atomic_store_explicit(&s->turn, lap + 1, memory_order_release);
}

/* Wakes threads that sleep for an event that was added. */
static void evd_notify(struct core_evd *evd)
{
    if (atomic_load_explicit(&evd->cno, memory_order_relaxed))
        atomic_store_explicit(&evd->triggered, true, memory_order_release);
    core_fence_light(core_fence_asymmetric);
    core_ring(evd->o.ia,
              atomic_load_explicit(&evd->bells, memory_order_relaxed));
}

static void evd_overflow(struct core_evd *evd)
{
    if (!atomic_exchange(&evd->overflowed, true))
        core_async_event(evd->o.ia, DAT_ASYNC_ERROR_EVD_OVERFLOW, evd,
                         DAT_EVD_OVERFLOW_ERROR);
}

/* Is every event taken, also those that are being added? Older events of an EP
 * that this thread makes progress of are seen here. */
static bool evd_is_empty(const struct core_evd *evd)
{
    for (struct core_evd_ring *r = evd->first; r; r = core_ring_next(r))
        if (atomic_load_explicit(&r->tail, memory_order_acquire) !=
            atomic_load_explicit(&r->head, memory_order_relaxed))
            return false;
    return true;
}

bool core_recv_evd_is_empty(const struct core_ep *ep)
{
    return evd_is_empty(ep->recv_evd);
}

/* Is this thread in dat_evd_dequeue, with no older event queued? */
static inline bool evd_is_polled_here(const struct core_evd *evd)
{
    return atomic_load_explicit(&evd->poller, memory_order_relaxed) ==
               core_evd_self() &&
           evd_is_empty(evd);
}

bool core_recv_ask_place(const struct core_ep *ep, const struct core_wqe *w,
                         const unsigned char *message, size_t bytes)
{
    uint32_t head = ep->place_head;
    if (!evd_is_polled_here(ep->recv_evd))
        return false;
    core_scatter(w->nseg, w->seg, message, head);
    void *to = ep->place(w->cookie, bytes);
    if (to)
        memcpy(to, message + head, bytes - head);
    return to;
}

/* The event of this thread's dat_evd_dequeue, once, if no older one is queued;
 * or NULL. */
static inline DAT_EVENT *evd_hand_over(struct core_evd *evd)
{
    if (!evd_is_polled_here(evd))
        return NULL;
    atomic_store_explicit(&evd->poller, 0, memory_order_relaxed);
    return atomic_load_explicit(&evd->wanted, memory_order_relaxed);
}

bool core_recv_served(const struct core_ep *ep)
{
    const struct core_evd *evd = ep->recv_evd;
    return atomic_load_explicit(&evd->wanted, memory_order_relaxed) &&
           !atomic_load_explicit(&evd->poller, memory_order_relaxed);
}

DAT_EVENT *core_evd_reserve(struct core_evd *evd)
{
    DAT_EVENT *wanted = evd_hand_over(evd);
    if (wanted)
        return wanted;
    struct core_evd_slot *s = evd_claim(evd);
    if (s)
        return &s->event;
    evd_overflow(evd);
    return NULL;
}

void core_evd_commit(struct core_evd *evd, DAT_EVENT *event, bool notify)
{
    size_t at = offsetof(struct core_evd_slot, event);
    if (event == atomic_load_explicit(&evd->wanted, memory_order_relaxed)) {
        event->evd_handle = evd;
        return;
    }
    ring_publish((void *)((char *)event - at), evd, !notify);
    if (notify)
        evd_notify(evd);
}

int core_evd_post(struct core_evd *evd, const DAT_EVENT *event, bool notify)
{
    DAT_EVENT *e = core_evd_reserve(evd);
    if (!e)
        return -1;
    core_event_copy(e, event);
    core_evd_commit(evd, e, notify);
    return 0;
}

int core_evd_try(struct core_evd *evd, const DAT_EVENT *event)
{
    struct core_evd_slot *s = evd_claim(evd);
    if (!s)
        return -1;
    core_event_copy(&s->event, event);
    core_evd_commit(evd, &s->event, true);
    return 0;
}

/* -------------------------------------------------- asynchronous events --- */

/* Protects the lists of IAs whose asynchronous events go to an IA's EVDs. A
 * thread that adds one holds it, so that the EVD stays. */
static pthread_mutex_t tellers_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void hold_over_fork(void)
{
    core_fork_hold(&tellers_lock);
}

void core_async_begin(struct core_ia *ia, struct core_evd *evd)
{
    struct core_ia **first = &evd->o.ia->tellers;
    core_ref(&evd->o);
    pthread_mutex_lock(&tellers_lock);
    ia->async_evd = evd;
    ia->teller_at = first;
    ia->next_teller = *first;
    if (*first)
        (*first)->teller_at = &ia->next_teller;
    *first = ia;
    pthread_mutex_unlock(&tellers_lock);
}

/* Its events go nowhere any more. */
static void hush(struct core_ia *ia)
{
    core_unref(&ia->async_evd->o);
    ia->async_evd = NULL;
    *ia->teller_at = ia->next_teller;
    if (ia->next_teller)
        ia->next_teller->teller_at = ia->teller_at;
}

void core_async_end(struct core_ia *ia)
{
    pthread_mutex_lock(&tellers_lock);
    if (ia->async_evd)
        hush(ia);
    while (ia->tellers)
        hush(ia->tellers);
    pthread_mutex_unlock(&tellers_lock);
}

struct core_evd *core_async_evd(struct core_ia *ia)
{
    pthread_mutex_lock(&tellers_lock);
    struct core_evd *evd = ia->async_evd;
    pthread_mutex_unlock(&tellers_lock);
    return evd;
}

void core_async_event(struct core_ia *ia, DAT_EVENT_NUMBER number,
                      DAT_HANDLE handle, DAT_COUNT reason)
{
    DAT_EVENT e = {.event_number = number};
    e.event_data.asynch_error_event_data.dat_handle = handle;
    e.event_data.asynch_error_event_data.reason = reason;
    pthread_mutex_lock(&tellers_lock);
    if (ia->async_evd)
        core_evd_try(
            ia->async_evd,
            &e); /* a full asynchronous EVD has no other EVD to report to */
    pthread_mutex_unlock(&tellers_lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving messages, and telling the sender of receives and progress. */
#include <string.h>

#include "providers/core/segments.h"
#include "providers/shm/shm.h"
#include "providers/shm/connect/abort.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/memory/remote.h"
#include "providers/shm/message/data.h"
#include "providers/shm/message/due.h"
#include "providers/shm/message/ring.h"
#include "providers/shm/wakeup/announce.h"

/* Fetches a message from the sender's memory. from: the sender's segments. */
static DAT_DTO_COMPLETION_STATUS fetch(struct shm_conn *c,
                                       const struct shm_head *h,
                                       const DAT_LMR_TRIPLET *from,
                                       const struct core_wqe *w)
{
    DAT_LMR_TRIPLET to[CORE_MAX_IOV];
    uint64_t at = 0;
    for (uint32_t i = 0; i < h->nseg; i++) {
        uint64_t len = from[i].segment_length;
        if (len > h->length - at)
            return DAT_DTO_ERR_BAD_RESPONSE;
        struct core_dto read = {
            .op = CORE_READ,
            .nseg = core_slice(w->nseg, w->seg, at, len, to),
            .seg = to,
            .total = len,
            .remote_address = from[i].virtual_address,
            .remote_key = from[i].lmr_context,
        };
        DAT_DTO_COMPLETION_STATUS status =
            shm_remote_copy(c, &read, 1, DAT_MEM_PRIV_LOCAL_READ_FLAG);
        if (status != DAT_DTO_SUCCESS)
            return status;
        at += len;
    }
    return at == h->length ? DAT_DTO_SUCCESS : DAT_DTO_ERR_BAD_RESPONSE;
}

/* How many bytes follow the head; SIZE_MAX: the head is not valid. */
static size_t payload_size(const struct shm_head *h, size_t limit)
{
    switch (h->kind) {
    case SHM_INLINE:
    case SHM_ALIGNED:
        return shm_carried(h, limit);
    case SHM_FETCH:
        return h->nseg <= CORE_MAX_IOV ? h->nseg * sizeof(DAT_LMR_TRIPLET)
                                       : SIZE_MAX;
    case SHM_IMMED:
        return 0;
    default:
        return SIZE_MAX;
    }
}

/* Moves a message with this (checked) head into a receive. */
static DAT_DTO_COMPLETION_STATUS deliver(struct shm_conn *c,
                                         const struct shm_head *h,
                                         const struct shm_msg *m,
                                         const struct core_wqe *w)
{
    DAT_LMR_TRIPLET from[CORE_MAX_IOV];
    if (h->kind == SHM_IMMED)
        return DAT_DTO_SUCCESS;
    if (h->length > w->total)
        return DAT_DTO_ERR_LOCAL_LENGTH;
    if (h->kind != SHM_FETCH) {
        const unsigned char *body = m->payload + shm_pad(h);
        if (!core_recv_place(c->ep, w, body, h->length))
            core_scatter(w->nseg, w->seg, body, h->length);
        return DAT_DTO_SUCCESS;
    }
    memcpy(from, m->payload, h->nseg * sizeof from[0]);
    atomic_signal_fence(memory_order_seq_cst); /* the peer may change it */
    return fetch(c, h, from, w);
}

bool shm_receive(struct shm_conn *c)
{
    struct core_wqe copy, *w;
    const struct shm_msg *m = shm_rx_next(c);
    if (m && shm_rx_skip(c, m))
        m = shm_rx_next(c);
    if (c->deaf || !m || !shm_is_due(c, m) ||
        !(w = core_recv_peek(c->ep, &copy)))
        return false;

    /* read once: the peer may change it */
    const struct shm_head h = m->head;
    atomic_signal_fence(memory_order_seq_cst);
    size_t payload =
        payload_size(&h, shm_in_backlog(c, m) ? SHM_SLOT_MAX : SHM_INLINE_MAX);
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_ERR_BAD_RESPONSE;
    if (payload != SIZE_MAX) {
        status = deliver(c, &h, m, w);
        shm_rx_release(c, m, payload);
    }
    uint64_t index = c->rx_taken++;
    if (status != DAT_DTO_SUCCESS)
        atomic_store_explicit(&c->rx->failed, index + 1, memory_order_release);
    atomic_store_explicit(&c->rx->taken, index + 1, memory_order_release);
    bool told = core_recv_done(c->ep, w, status, h.length, h.solicited,
                               h.kind == SHM_IMMED ? &h.immed : NULL);
    if (status != DAT_DTO_SUCCESS)
        shm_abort(c->ep);
    c->deaf = !told || status != DAT_DTO_SUCCESS;
    return !c->deaf;
}

void shm_notify_sender(struct shm_conn *c)
{
    uint64_t bells;
    shm_fence(c);
    if (!shm_peer_listens(c, &bells))
        return;
    /* see shm_requests_advance */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&c->rx->pending, memory_order_relaxed))
        shm_announce_to_peer(c, bells);
}

/* Publishes how many receives there are, and the size of the smallest. When a
 * connection begins, two threads may do so: neither moves a counter back. */
static void publish_receives(struct shm_conn *c, uint64_t posted)
{
    struct shm_ep *se = core_ep_area(c->ep);
    /* 0 (none) wraps to the largest value */
    uint64_t capacity =
        atomic_load_explicit(&se->capacity, memory_order_relaxed) - 1;
    uint64_t before =
        atomic_load_explicit(&c->rx->min_capacity, memory_order_relaxed);
    while (before > capacity && !atomic_compare_exchange_weak_explicit(
                                    &c->rx->min_capacity, &before, capacity,
                                    memory_order_release, memory_order_relaxed))
        ;
    before = atomic_load_explicit(&c->rx->posted, memory_order_relaxed);
    while (before < posted && !atomic_compare_exchange_weak_explicit(
                                  &c->rx->posted, &before, posted,
                                  memory_order_release, memory_order_relaxed))
        ;
    shm_notify_sender(c);
}

DAT_RETURN shm_recv_post(struct core_ep *ep, const struct core_wqe *w)
{
    struct shm_ep *se = core_ep_area(ep);
    if (w->total <
        atomic_load_explicit(&se->capacity, memory_order_relaxed) - 1)
        atomic_store_explicit(&se->capacity, w->total + 1,
                              memory_order_relaxed);
    /* it may be filled by a fetch, which holds locks: measure now */
    shm_choice_measure(shm_ia(ep->o.ia), false, w->total);
    core_recv_add(ep);
    return DAT_SUCCESS;
}

void shm_recv_posted(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    publish_receives(
        c, atomic_load_explicit(&ep->rq_tail, memory_order_relaxed) -
               atomic_load_explicit(&c->rq_base, memory_order_relaxed));
    /* a message may have arrived before, and found no receive */
    if (shm_rx_next(c))
        core_ep_ring(ep);
}

void shm_recv_publish(struct shm_conn *c)
{
    struct core_ep *ep = c->ep;
    if (!ep->srq) /* a shared queue promises nothing to a connection */
        publish_receives(c,
                         atomic_load(&ep->rq_tail) - atomic_load(&c->rq_base));
}

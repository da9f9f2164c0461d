/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting requests, and completing them. RDMA and atomics are complete when
 * the post call returns. A send is a message in the peer's queue (ring.h). It
 * is complete when the receiver has posted a receive that holds it (a short
 * message in the ring) or has taken it (any other, and all for a shared receive
 * queue). Until then it waits in the EP's queue of unfinished requests. That is
 * DAT's reliable service: a sender waits for a receiver that is not ready.
 */
#include <string.h>

#include "providers/core/segments.h"
#include "providers/shm/shm.h"
#include "providers/shm/connect/abort.h"
#include "providers/shm/link_model/cable.h"
#include "providers/shm/link_model/model.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/memory/remote.h"
#include "providers/shm/message/data.h"
#include "providers/shm/message/ring.h"
#include "providers/shm/wakeup/announce.h"

/* Must the receiver fetch the data, as the place holds only `limit` bytes? */
static bool is_fetched(const struct core_dto *d, size_t limit)
{
    return d->op == CORE_SEND && d->total > limit;
}

static size_t payload_of(const struct core_dto *d, size_t limit)
{
    if (d->op != CORE_SEND)
        return 0;
    return is_fetched(d, limit) ? d->nseg * sizeof d->seg[0] : d->total;
}

/* Can the receiver read all of the data, mapped or by process_vm_readv? */
static bool is_readable(struct shm_conn *c, const struct core_dto *d)
{
    if (atomic_load_explicit(&c->tx->can_read, memory_order_relaxed))
        return true;
    for (uint32_t i = 0; i < d->nseg; i++) {
        const struct shm_mr *own =
            &c->sia->control.table[d->seg[i].lmr_context % CORE_MAX_MRS];
        if (d->seg[i].segment_length && (own->fd < 0 || own->head || own->tail))
            return false;
    }
    return true;
}

/* Inlined, like push(): every send calls both. */
static inline __attribute__((always_inline)) void
write_message(struct shm_conn *c, struct shm_msg *m, const struct core_dto *d,
              size_t limit, struct shm_request *p)
{
    bool fetch = is_fetched(d, limit);
    uint64_t due = c->sia->clocks ? shm_model_deliver(c, d->total, false) : 0;
    m->head = (struct shm_head){
        .kind = d->op != CORE_SEND ? SHM_IMMED
                : fetch            ? SHM_FETCH
                                   : SHM_INLINE,
        .solicited = !!(d->flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG),
        .nseg = (uint16_t)d->nseg,
        .length = (uint32_t)d->total,
        .immed = d->immed,
        .due = due ? due - c->sia->ahead_ns : 0,
    };
    if (fetch)
        memcpy(m->payload, d->seg, d->nseg * sizeof d->seg[0]);
    else if (d->op == CORE_SEND)
        core_gather(m->payload, d->nseg, d->seg);
    p->due = due ? due + c->sia->latency_ns : 0;
    p->need_taken = fetch;
    p->posted = true;
    p->index = c->tx_index;
}

/* Puts a message into the peer's queue, and notes that in *p. False: it must
 * wait here, as the ring has no room for it and the peer can't read its data;
 * or it is inline, and the ring has no room. */
static inline __attribute__((always_inline)) bool
push(struct shm_conn *c, const struct core_dto *d, struct shm_request *p)
{
    uint64_t lines = shm_lines(payload_of(d, SHM_INLINE_MAX));
    bool waits = d->is_inline && !c->sia->clocks;
    struct shm_msg *m = !shm_backlog_empty(c) ? NULL
                        : waits               ? shm_ring_await(c, lines)
                                              : shm_ring_reserve(c, lines);
    if (m) {
        write_message(c, m, d, SHM_INLINE_MAX, p);
        shm_ring_commit(c, m, lines);
    } else {
        if (d->is_inline || (is_fetched(d, SHM_SLOT_MAX) && !is_readable(c, d)))
            return false;
        write_message(c, shm_backlog_reserve(c), d, SHM_SLOT_MAX, p);
        p->need_taken = true; /* its slot is in use until then */
        shm_backlog_commit(c);
    }
    c->tx_index++;
    shm_notify_peer(c);
    if (m)
        shm_ring_prefetch_next(c, lines);
    return true;
}

/* Has the receiver posted a receive for this message that is large enough, and
 * not ended the connection before it could see the message? */
static bool is_received_for(struct shm_conn *c, enum core_op op, uint64_t total,
                            const struct shm_request *p)
{
    uint64_t length = op == CORE_SEND ? total : 0; /* an immediate needs none */
    if (p->need_taken)
        return false;
    if (c->tx_posted <= p->index)
        c->tx_posted =
            atomic_load_explicit(&c->tx->posted, memory_order_acquire);
    return c->tx_posted > p->index &&
           length <= atomic_load_explicit(&c->tx->min_capacity,
                                          memory_order_relaxed) &&
           !atomic_load_explicit(&c->tx->closed, memory_order_relaxed);
}

/* Puts requests that wait here for room into the peer's queue. */
static void push_waiting(struct shm_conn *c)
{
    struct core_ep *ep = c->ep;
    uint64_t end = atomic_load_explicit(&ep->sq_tail, memory_order_acquire);
    for (; c->waiting != end; c->waiting++) {
        struct core_request *r = core_request_at(ep, c->waiting);
        struct shm_request *p = (void *)r->tp;
        struct core_dto d = core_request_dto(r);
        if (!r->done && !p->carried_out && !p->posted && !push(c, &d, p))
            break;
    }
}

static bool reads_from(const struct core_request *r, uint32_t key)
{
    for (uint32_t i = 0; i < r->w.nseg; i++)
        if (r->w.seg[i].segment_length && r->w.seg[i].lmr_context == key)
            return true;
    return false;
}

void shm_requests_withdraw(struct shm_conn *c, uint32_t key)
{
    struct core_ep *ep = c->ep;
    bool failed = false;
    if (!ep || !core_requests_pending(ep))
        return;
    core_ep_lock(ep);
    uint64_t head = atomic_load(&ep->sq_head), end = atomic_load(&ep->sq_tail);
    for (uint64_t n = c->waiting > head ? c->waiting : head; n != end; n++) {
        struct core_request *r = core_request_at(ep, n);
        const struct shm_request *p = (const void *)r->tp;
        if (r->done || p->carried_out || p->posted || r->op != CORE_SEND ||
            !reads_from(r, key))
            continue;
        r->done = failed = true;
        r->status = DAT_DTO_ERR_LOCAL_PROTECTION;
    }
    core_requests_retire(ep);
    core_ep_unlock(ep);
    if (failed)
        shm_abort(ep);
}

/* Is it complete by now, and how? */
static bool is_complete(struct shm_conn *c, struct core_request *r)
{
    const struct shm_request *p = (const void *)r->tp;
    if (r->done)
        return true;
    if (p->due && p->due > busywait_now_ns())
        return false;
    if (p->carried_out)
        return true;
    if (!p->posted)
        return false;
    uint64_t taken = atomic_load_explicit(&c->tx->taken, memory_order_acquire);
    if (atomic_load_explicit(&c->tx->failed, memory_order_acquire) ==
        p->index + 1) {
        r->status = DAT_DTO_ERR_REMOTE_RESPONDER;
        return true;
    }
    return taken > p->index || is_received_for(c, r->op, r->w.total, p);
}

/* Completes what can be completed. ep->lock is held. */
static void advance(struct shm_conn *c)
{
    struct core_ep *ep = c->ep;
    push_waiting(c);
    uint64_t at = atomic_load_explicit(&ep->sq_head, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&ep->sq_tail, memory_order_acquire);
    for (; at != end; at++) {
        struct core_request *r = core_request_at(ep, at);
        if (!(r->done = is_complete(c, r)))
            break;
    }
    core_requests_retire(ep);
}

/* `pending` tells the peer whether to notify this side. Sequentially consistent
 * with the peer's counters: either the peer sees `pending`, or this side sees
 * the counters. */
void shm_requests_advance(struct shm_conn *c)
{
    advance(c);
    bool pending = core_requests_pending(c->ep);
    uint32_t marked =
        atomic_load_explicit(&c->tx->pending, memory_order_relaxed);
    if (pending == !!marked)
        return;
    atomic_store(&c->tx->pending, pending);
    atomic_thread_fence(memory_order_seq_cst);
    if (pending)
        advance(c);
}

void shm_request_queue(struct core_ep *ep, const struct core_dto *dto,
                       const struct shm_request *p, bool done,
                       DAT_DTO_COMPLETION_STATUS status)
{
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    bool ended = !c || core_ep_state(ep) == DAT_EP_STATE_DISCONNECTED;
    struct core_request *r = core_request_queue(ep, dto);
    memcpy(r->tp, p, sizeof *p);
    r->status = status;
    /* the peer may have taken it before it ended the connection */
    r->done = done || (ended && c && is_complete(c, r));
    if (ended && !r->done) {
        r->done = true;
        r->status = DAT_DTO_ERR_FLUSHED;
    }
    if (ended) /* the flush of older requests may be over already */
        core_requests_retire(ep);
    else
        shm_requests_advance(c);
    core_ep_unlock(ep);
    if (p->due) /* a sleeping thread may have planned for a later time */
        core_ep_ring(ep);
}

static DAT_RETURN post_message(struct core_ep *ep, const struct core_dto *dto)
{
    struct shm_conn *c = ep->tp;
    struct shm_request p = {0};
    if (!core_requests_pending(ep) && push(c, dto, &p) && !p.due &&
        is_received_for(c, dto->op, dto->total, &p)) {
        core_request_done(ep, dto, DAT_DTO_SUCCESS);
        return DAT_SUCCESS;
    }
    if (dto->is_inline && !p.posted)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, 0);
    shm_request_queue(ep, dto, &p, false, DAT_DTO_SUCCESS);
    return DAT_SUCCESS;
}

/* With a link model: spends the CPU time of the post, and returns when an RDMA
 * or atomic request may complete; 0: any time. To be called before the bytes
 * are copied, for which an adapter would not wait. */
static uint64_t modelled(struct shm_conn *c, const struct core_dto *dto)
{
    bool read = dto->op != CORE_WRITE;
    shm_model_overhead(c->sia);
    if (dto->op == CORE_SEND || dto->op == CORE_WRITE_IMMED)
        return 0;
    return shm_model_deliver(c, dto->total, read) + c->sia->latency_ns * !read;
}

/* Completes a request that is carried out, in order and not before `due`. */
static void finish(struct core_ep *ep, const struct core_dto *dto,
                   DAT_DTO_COMPLETION_STATUS status, uint64_t due)
{
    bool later = due && status == DAT_DTO_SUCCESS;
    if (later || core_requests_pending(ep)) {
        struct shm_request p = {.due = due, .carried_out = later};
        shm_request_queue(ep, dto, &p, !later, status);
    } else {
        core_request_done(ep, dto, status);
    }
    if (status != DAT_DTO_SUCCESS)
        shm_abort(ep);
}

static inline void prefetch_end(const struct shm_conn *c,
                                const struct core_dto *dto)
{
    shm_peer_prefetch(c->peer, dto->remote_key,
                      dto->remote_address + dto->total - 1);
}

static DAT_RETURN carry_out(struct core_ep *ep, const struct core_dto *dto)
{
    struct shm_conn *c = ep->tp;
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    if (dto->op == CORE_SEND)
        shm_ring_prefetch(c);
    else if (dto->op == CORE_WRITE)
        prefetch_end(c, dto);
    uint64_t due = c->sia->clocks ? modelled(c, dto) : 0;
    switch (dto->op) {
    case CORE_SEND:
        return post_message(ep, dto);
    case CORE_WRITE:
    case CORE_WRITE_IMMED:
        status = shm_remote_copy(c, dto, 0, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
        if (status == DAT_DTO_SUCCESS && dto->op == CORE_WRITE_IMMED)
            return post_message(ep, dto);
        break;
    case CORE_READ:
        status = shm_remote_copy(c, dto, 0, DAT_MEM_PRIV_REMOTE_READ_FLAG);
        break;
    case CORE_FETCH_ADD:
    case CORE_CMP_SWAP:
        status = shm_remote_atomic(c, dto);
        break;
    }
    finish(ep, dto, status, due);
    return DAT_SUCCESS;
}

/* In a mute cable, the request waits until the connection ends. False: the
 * cable works. */
static bool lose_if_mute(struct core_ep *ep, const struct core_dto *dto)
{
    static const struct shm_request never = {.due = UINT64_MAX,
                                             .carried_out = true};
    struct shm_conn *c = ep->tp;
    c->lost = c->lost ||
              atomic_load_explicit(&c->sia->cable->mute, memory_order_relaxed);
    if (c->lost)
        shm_request_queue(ep, dto, &never, false, DAT_DTO_SUCCESS);
    return c->lost;
}

bool shm_waits_in_vain(struct core_ep *ep)
{
    core_ep_lock(ep);
    const struct core_request *r =
        core_request_at(ep, atomic_load(&ep->sq_head));
    bool in_vain = core_requests_pending(ep) &&
                   ((const struct shm_request *)r->tp)->due == UINT64_MAX;
    core_ep_unlock(ep);
    return in_vain;
}

DAT_RETURN shm_post(struct core_ep *ep, const struct core_dto *dto)
{
    struct shm_conn *c = ep->tp;
    bool cable = __builtin_expect(c->sia->cable != NULL, 0);
    if (atomic_load_explicit(&c->aborted, memory_order_relaxed) ||
        (cable && shm_cable_cut(c))) {
        finish(ep, dto, DAT_DTO_ERR_FLUSHED, 0);
        return DAT_SUCCESS;
    }
    if (cable && lose_if_mute(ep, dto))
        return DAT_SUCCESS;
    uint64_t start = cable && !c->sia->clocks ? busywait_now_ns() : 0;
    DAT_RETURN ret = carry_out(ep, dto);
    if (start)
        shm_cable_slow_down(c->sia, start);
    return ret;
}

DAT_RETURN shm_post_sync(struct core_ep *ep, const struct core_dto *dto)
{
    struct shm_conn *c = ep->tp;
    int priv = dto->op == CORE_READ ? DAT_MEM_PRIV_REMOTE_READ_FLAG
                                    : DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    if (dto->op == CORE_WRITE)
        prefetch_end(c, dto);
    return !atomic_load_explicit(&c->aborted, memory_order_relaxed) &&
                   shm_remote_copy(c, dto, 0, priv) == DAT_DTO_SUCCESS
               ? DAT_SUCCESS
               : CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, 0);
}

uint64_t shm_writes_counted(struct core_ep *ep)
{
    const struct shm_conn *c = ep->tp;
    return c->segment ? atomic_load(&c->rx->counted) : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path. RDMA and atomics are complete when the post call returns.
 * A send is a message in the peer's queue (ring.h); it is complete when the
 * receiver has posted a receive that holds it (short messages in the ring) or
 * has taken it (others, and all for a shared receive queue), and waits in the
 * EP's queue of unfinished requests until then. That is the reliable,
 * receiver-not-ready-retrying service of DAT.
 */
#include <string.h>

#include "copy.h"
#include "providers/core/segments.h"
#include "ring.h"

/* By our clock, 0: at once. */
static uint64_t due_of(const struct shm_conn *c, const struct shm_msg *m)
{
    return m->head.due ? m->head.due + c->sia->ahead_ns : 0;
}

/* Without a link model everything is, whatever the peer says. */
static bool is_due(struct shm_conn *c, const struct shm_msg *m)
{
    return !m->head.due ||
           !atomic_load_explicit(&c->timed, memory_order_relaxed) ||
           due_of(c, m) <= shm_now_ns();
}

/* ------------------------------------------------------------- sending --- */

struct outgoing { /* a send or an immediate, however it came here */
    enum core_op op;
    DAT_COMPLETION_FLAGS flags;
    uint32_t nseg;
    const DAT_LMR_TRIPLET *seg;
    uint64_t total;
    uint32_t immed;
};

/* Must the receiver fetch it, in a place that holds `limit` bytes? */
static bool is_fetched(const struct outgoing *o, size_t limit)
{
    return o->op == CORE_SEND && o->total > limit;
}

static size_t payload_of(const struct outgoing *o, size_t limit)
{
    if (o->op != CORE_SEND)
        return 0;
    return is_fetched(o, limit) ? o->nseg * sizeof o->seg[0] : o->total;
}

/* Can the receiver read all of the data: mapped, or by process_vm_readv? */
static bool is_readable(struct shm_conn *c, const struct outgoing *o)
{
    if (atomic_load_explicit(&c->tx->can_read, memory_order_relaxed))
        return true;
    for (uint32_t i = 0; i < o->nseg; i++)
        if (o->seg[i].segment_length &&
            !c->sia->ia->mrs[o->seg[i].lmr_context % CORE_MAX_MRS].tp)
            return false;
    return true;
}

static void write_message(struct shm_conn *c, struct shm_msg *m,
                          const struct outgoing *o, size_t limit,
                          struct shm_request *p)
{
    bool fetch = is_fetched(o, limit);
    uint64_t due = c->sia->clocks ? shm_model_deliver(c, o->total, false) : 0;
    m->head = (struct shm_head){
        .kind = o->op != CORE_SEND ? SHM_IMMED
                : fetch            ? SHM_FETCH
                                   : SHM_INLINE,
        .solicited = !!(o->flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG),
        .nseg = (uint16_t)o->nseg,
        .length = (uint32_t)o->total,
        .immed = o->immed,
        .due = due ? due - c->sia->ahead_ns : 0,
    };
    if (fetch)
        memcpy(m->payload, o->seg, o->nseg * sizeof o->seg[0]);
    else if (o->op == CORE_SEND)
        core_gather(m->payload, o->nseg, o->seg);
    p->due = due ? due + c->sia->latency_ns : 0;
    p->need_taken = fetch;
    p->posted = true;
    p->index = c->tx_index;
}

/* Puts a message into the peer's queue and says so in *p; false when it must
 * wait here: there is no room in the ring, and the peer can't read it. */
static bool push(struct shm_conn *c, const struct outgoing *o,
                 struct shm_request *p)
{
    uint64_t lines = shm_lines(payload_of(o, SHM_INLINE_MAX));
    struct shm_msg *m =
        shm_backlog_empty(c) ? shm_ring_reserve(c, lines) : NULL;
    if (m) {
        write_message(c, m, o, SHM_INLINE_MAX, p);
        shm_ring_commit(c, m, lines);
    } else {
        if (is_fetched(o, SHM_SLOT_MAX) && !is_readable(c, o))
            return false;
        write_message(c, shm_backlog_reserve(c), o, SHM_SLOT_MAX, p);
        p->need_taken = true; /* so many slots are enough */
        shm_backlog_commit(c);
    }
    c->tx_index++;
    shm_ring_peer(c);
    return true;
}

/* Has the receiver posted a receive for this message that surely holds it, and
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

/* Puts those requests into the peer's queue that wait here for room. */
static void push_waiting(struct shm_conn *c)
{
    struct core_ep *ep = c->ep;
    uint64_t end = atomic_load_explicit(&ep->sq_tail, memory_order_acquire);
    for (; c->waiting != end; c->waiting++) {
        struct core_request *r = core_request_at(ep, c->waiting);
        struct shm_request *p = (void *)r->tp;
        struct outgoing o = {r->op,    r->w.flags, r->w.nseg,
                             r->w.seg, r->w.total, r->immed};
        if (!r->done && !p->carried_out && !p->posted && !push(c, &o, p))
            break;
    }
}

/* Is it complete by now, and how? */
static bool is_complete(struct shm_conn *c, struct core_request *r)
{
    const struct shm_request *p = (const void *)r->tp;
    if (r->done)
        return true;
    if (p->due && p->due > shm_now_ns())
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

/* Moves the unfinished requests; ep->lock is held. */
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

/* Keeps `pending` true to what the peer must tell us. Sequentially consistent
 * with the peer's counters: one side sees the other. ep->lock is held. */
static void advance_and_mark(struct shm_conn *c)
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

/* Queues a request behind the unfinished ones; `done`: only its turn is
 * missing. */
static void queue(struct core_ep *ep, const struct core_dto *dto,
                  const struct shm_request *p, bool done,
                  DAT_DTO_COMPLETION_STATUS status)
{
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    bool ended = !c || core_ep_state(ep) == DAT_EP_STATE_DISCONNECTED;
    struct core_request *r = core_request_queue(ep, dto);
    memcpy(r->tp, p, sizeof *p);
    r->status = status;
    /* the peer may have taken it, and ended the connection at once */
    r->done = done || (ended && c && is_complete(c, r));
    if (ended && !r->done) {
        r->done = true;
        r->status = DAT_DTO_ERR_FLUSHED;
    }
    if (ended) /* behind older ones: who flushes those completes it, too */
        core_requests_retire(ep);
    else
        advance_and_mark(c);
    core_ep_unlock(ep);
    if (p->due) /* a thread may sleep until something later is due */
        core_ep_ring(ep);
}

static void post_message(struct core_ep *ep, const struct core_dto *dto)
{
    struct shm_conn *c = ep->tp;
    struct shm_request p = {0};
    if (!core_requests_pending(ep)) {
        struct outgoing o = {dto->op,  dto->flags, dto->nseg,
                             dto->seg, dto->total, dto->immed};
        if (push(c, &o, &p) && !p.due &&
            is_received_for(c, dto->op, dto->total, &p)) {
            core_request_done(ep, dto, DAT_DTO_SUCCESS);
            return;
        }
    }
    queue(ep, dto, &p, false, DAT_DTO_SUCCESS);
}

/* With a link model: spends the CPU time of the post, and says when an RDMA or
 * atomic request may complete, 0: any time. Before the bytes are copied: an
 * adapter would not wait for that. */
static uint64_t modelled(struct shm_conn *c, const struct core_dto *dto)
{
    bool read = dto->op != CORE_WRITE;
    shm_model_overhead(c->sia);
    if (dto->op == CORE_SEND || dto->op == CORE_WRITE_IMMED)
        return 0;
    return shm_model_deliver(c, dto->total, read) + c->sia->latency_ns * !read;
}

/* Completes a request that is carried out, in order and in time. */
static void finish(struct core_ep *ep, const struct core_dto *dto,
                   DAT_DTO_COMPLETION_STATUS status, uint64_t due)
{
    bool later = due && status == DAT_DTO_SUCCESS;
    if (later || core_requests_pending(ep)) {
        struct shm_request p = {.due = due, .carried_out = later};
        queue(ep, dto, &p, !later, status);
    } else {
        core_request_done(ep, dto, status);
    }
    if (status != DAT_DTO_SUCCESS)
        shm_abort(ep);
}

static void carry_out(struct core_ep *ep, const struct core_dto *dto)
{
    struct shm_conn *c = ep->tp;
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    if (dto->op == CORE_WRITE)
        shm_peer_prefetch(c->peer, dto->remote_key,
                          dto->remote_address + dto->total - 1);
    uint64_t due = c->sia->clocks ? modelled(c, dto) : 0;
    switch (dto->op) {
    case CORE_SEND:
        post_message(ep, dto);
        return;
    case CORE_WRITE:
    case CORE_WRITE_IMMED:
        status = shm_remote_copy(c, dto, 0, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
        if (status == DAT_DTO_SUCCESS && dto->op == CORE_WRITE_IMMED) {
            post_message(ep, dto);
            return;
        }
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
}

/* In a mute cable: it waits until the connection ends. */
static bool is_lost(struct core_ep *ep, const struct core_dto *dto)
{
    static const struct shm_request never = {.due = UINT64_MAX,
                                             .carried_out = true};
    struct shm_conn *c = ep->tp;
    c->lost = c->lost ||
              atomic_load_explicit(&c->sia->cable->mute, memory_order_relaxed);
    if (c->lost)
        queue(ep, dto, &never, false, DAT_DTO_SUCCESS);
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
    if (cable && is_lost(ep, dto))
        return DAT_SUCCESS;
    uint64_t start = cable && !c->sia->clocks ? shm_now_ns() : 0;
    carry_out(ep, dto);
    if (start)
        shm_cable_slow_down(c->sia, start);
    return DAT_SUCCESS;
}

/* ------------------------------------------------------------ receiving --- */

/* Copies the part [at, at + len) of a receive's segments into a list. */
static uint32_t slice(const struct core_wqe *w, uint64_t at, uint64_t len,
                      DAT_LMR_TRIPLET out[CORE_MAX_IOV])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->nseg && len; i++) {
        uint64_t have = w->seg[i].segment_length;
        if (at >= have) {
            at -= have;
            continue;
        }
        uint64_t use = have - at < len ? have - at : len;
        out[n].virtual_address = w->seg[i].virtual_address + at;
        out[n++].segment_length = (DAT_SEG_LENGTH)use;
        len -= use;
        at = 0;
    }
    return n;
}

/* Fetches a message from the sender's memory; `from` is the sender's list. */
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
            .nseg = slice(w, at, len, to),
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

/* How many bytes follow the head; SIZE_MAX: that can't be. */
static size_t payload_size(const struct shm_head *h, size_t limit)
{
    switch (h->kind) {
    case SHM_INLINE:
        return h->length <= limit ? h->length : SIZE_MAX;
    case SHM_FETCH:
        return h->nseg <= CORE_MAX_IOV ? h->nseg * sizeof(DAT_LMR_TRIPLET)
                                       : SIZE_MAX;
    case SHM_IMMED:
        return 0;
    default:
        return SIZE_MAX;
    }
}

/* Moves the data of a message with this (checked) head into a receive. */
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
    if (h->kind == SHM_INLINE) {
        core_scatter(w->nseg, w->seg, m->payload, h->length);
        return DAT_DTO_SUCCESS;
    }
    memcpy(from, m->payload, h->nseg * sizeof from[0]);
    atomic_signal_fence(memory_order_seq_cst); /* the peer may write there */
    return fetch(c, h, from, w);
}

/* Receives one message; false when there is none or no receive for it. */
static bool receive(struct shm_conn *c)
{
    struct core_wqe copy, *w;
    const struct shm_msg *m = shm_rx_next(c);
    if (m && shm_rx_skip(c, m))
        m = shm_rx_next(c);
    if (c->deaf || !m || !is_due(c, m) || !(w = core_recv_peek(c->ep, &copy)))
        return false;

    /* Read once: the peer may write there. */
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

/* The peer waits for our counters: it must look again. */
static void tell_sender(struct shm_conn *c)
{
    uint64_t bells;
    shm_fence(c);
    if (!shm_wants_news(c, &bells))
        return;
    /* it sleeps, perhaps for something else: see advance_and_mark */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&c->rx->pending, memory_order_relaxed))
        shm_tell_peer(c, bells);
}

/* Moves what can be moved; ep->lock is held. */
static void move(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    DAT_EP_STATE state = core_ep_state(ep);
    bool any = false;
    if (!c || (state != DAT_EP_STATE_CONNECTED &&
               state != DAT_EP_STATE_DISCONNECT_PENDING))
        return;
    while (receive(c))
        any = true;
    if (core_requests_pending(ep))
        advance_and_mark(c);
    if (any)
        tell_sender(c);
}

/* Is there anything to move? Without ep->lock: the EP may be just losing its
 * connection (conn.c). */
static inline bool is_anything(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    const struct shm_msg *m = c ? shm_rx_next(c) : NULL;
    return (m && is_due(c, m)) || (c && core_requests_pending(ep));
}

void shm_progress(struct core_ep *ep, bool sure)
{
    if (!sure) {
        if (!is_anything(ep) || !core_ep_trylock(ep))
            return;
    } else {
        core_ep_lock(ep);
        struct shm_conn *c = ep->tp;
        if (c && c->peer)
            shm_peer_drop_stale(c->peer);
    }
    move(ep);
    core_ep_unlock(ep);
}

uint64_t shm_next_due(struct core_ep *ep, uint64_t seen)
{
    uint64_t next = UINT64_MAX;
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    if (c && c->segment && c->sia->clocks) {
        uint64_t head = atomic_load(&ep->sq_head);
        if (core_requests_pending(ep)) {
            const struct core_request *r = core_request_at(ep, head);
            const struct shm_request *p = (const void *)r->tp;
            if (!r->done && p->due > seen)
                next = p->due;
        }
        const struct shm_msg *m = shm_rx_next(c);
        if (m && due_of(c, m) > seen && due_of(c, m) < next)
            next = due_of(c, m);
    }
    core_ep_unlock(ep);
    return next;
}

uint64_t shm_arriving(struct core_ep *ep)
{
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    const struct shm_msg *m = shm_rx_next(c);
    uint64_t due = m && !is_due(c, m) ? due_of(c, m) : 0;
    core_ep_unlock(ep);
    return due;
}

/* ------------------------------------------------- receives, announced --- */

/* Publishes how many receives there are and what the smallest holds. Two
 * threads may do so at the start: neither takes anything back. */
static void publish_receives(struct shm_conn *c, uint64_t posted)
{
    struct shm_ep *se = core_ep_area(c->ep);
    /* none wraps to the largest */
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
    tell_sender(c);
}

DAT_RETURN shm_recv_post(struct core_ep *ep, const struct core_wqe *w)
{
    struct shm_ep *se = core_ep_area(ep);
    if (w->total <
        atomic_load_explicit(&se->capacity, memory_order_relaxed) - 1)
        atomic_store_explicit(&se->capacity, w->total + 1,
                              memory_order_relaxed);
    /* it may be filled by fetching, where locks are held */
    shm_choice_measure(shm_ia(ep->o.ia), false, w->total);
    core_recv_add(ep);
    return DAT_SUCCESS;
}

void shm_recv_posted(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    publish_receives(c,
                     atomic_load_explicit(&ep->rq_tail, memory_order_relaxed) -
                         c->rq_base);
    /* a message may have come before, and found no receive */
    if (shm_rx_next(c))
        core_ep_ring(ep);
}

void shm_recv_announce(struct shm_conn *c)
{
    struct core_ep *ep = c->ep;
    if (!ep->srq) /* whose receive it will be is only known when it is taken */
        publish_receives(c, atomic_load(&ep->rq_tail) - c->rq_base);
}

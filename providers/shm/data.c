/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path. RDMA and atomics are complete when the post call returns.
 * A send is a message in the ring of the connection; it is complete when the
 * receiver has posted a receive that holds it (short messages) or has fetched
 * it (long ones), and waits in the EP's queue of unfinished requests until
 * then. That is the reliable, receiver-not-ready-retrying service of DAT.
 */
#include <string.h>

#include "shm.h"

/* ---------------------------------------------------------------- rings --- */

static inline struct shm_msg *tx_line(struct shm_conn *c, uint64_t at)
{
    return (void *)(c->tx_ring + at % SHM_RING_LINES * SHM_LINE);
}

static inline struct shm_msg *rx_line(struct shm_conn *c, uint64_t at)
{
    return (void *)(c->rx_ring + at % SHM_RING_LINES * SHM_LINE);
}

static inline uint64_t lines_for(size_t payload)
{
    return (SHM_HEAD + payload + SHM_LINE - 1) / SHM_LINE;
}

static inline uint64_t rx_head(struct shm_conn *c)
{
    return atomic_load_explicit(&c->rx_head, memory_order_relaxed);
}

/* Also without ep->lock, to see whether it is worth taking. */
static inline bool rx_arrived(struct shm_conn *c)
{
    uint64_t head = rx_head(c);
    return atomic_load_explicit(&rx_line(c, head)->seq, memory_order_acquire) ==
           head + 1;
}

/* Arrived, and let through by the link model if there is one. */
static inline bool rx_ready(struct shm_conn *c)
{
    if (!rx_arrived(c))
        return false;
    uint64_t due = rx_line(c, rx_head(c))->due;
    return !due || due <= shm_now_ns();
}

/* Room for n lines, or NULL. */
static struct shm_msg *tx_reserve(struct shm_conn *c, uint64_t n)
{
    if (c->tx_tail + n - c->tx_head > SHM_RING_LINES) {
        c->tx_head = atomic_load_explicit(&c->tx->head, memory_order_acquire);
        if (c->tx_tail + n - c->tx_head > SHM_RING_LINES)
            return NULL;
    }
    return tx_line(c, c->tx_tail);
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

static size_t gather(unsigned char *to, const struct outgoing *o)
{
    size_t n = 0;
    for (uint32_t i = 0; i < o->nseg; i++) {
        memcpy(to + n, (void *)(uintptr_t)o->seg[i].virtual_address,
               o->seg[i].segment_length);
        n += o->seg[i].segment_length;
    }
    return n;
}

/* Puts a message into the ring and says so in *p, unless there is no room. */
static bool push(struct shm_conn *c, const struct outgoing *o,
                 struct shm_request *p)
{
    bool immed = o->op == CORE_WRITE_IMMED;
    bool fetch = !immed && o->total > SHM_INLINE_MAX;
    size_t payload = immed   ? 0
                     : fetch ? o->nseg * sizeof o->seg[0]
                             : (size_t)o->total;
    uint64_t lines = lines_for(payload);
    struct shm_msg *m = tx_reserve(c, lines);
    if (!m)
        return false;
    m->kind = immed ? SHM_IMMED : fetch ? SHM_FETCH : SHM_INLINE;
    m->solicited = !!(o->flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG);
    m->nseg = (uint16_t)o->nseg;
    m->length = (uint32_t)o->total;
    m->immed = o->immed;
    m->due = c->sia->clocks ? shm_model_deliver(c, o->total, false) : 0;
    p->due = m->due ? m->due + c->sia->latency_ns : 0;
    p->need_taken = fetch;
    p->posted = true;
    p->index = c->tx_index++;
    if (fetch)
        memcpy(m->payload, o->seg, payload);
    else if (payload)
        gather(m->payload, o);
    atomic_store_explicit(&m->seq, c->tx_tail + 1, memory_order_release);
    c->tx_tail += lines;
    /* The message is seen before we look whether somebody sleeps. */
    atomic_thread_fence(memory_order_seq_cst);
    shm_ring_doorbell(c->peer->control.door);
    return true;
}

/* Has the receiver posted a receive for this message that surely holds it? */
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
           length <=
               atomic_load_explicit(&c->tx->min_capacity, memory_order_relaxed);
}

/* Moves the unfinished requests; ep->lock is held. */
static void advance(struct shm_conn *c)
{
    struct core_ep *ep = c->ep;
    uint64_t at = atomic_load_explicit(&ep->sq_head, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&ep->sq_tail, memory_order_acquire);
    uint64_t taken = atomic_load_explicit(&c->tx->taken, memory_order_acquire);
    uint64_t failed =
        atomic_load_explicit(&c->tx->failed, memory_order_acquire);
    for (; at != end; at++) {
        struct core_request *r = core_request_at(ep, at);
        struct shm_request *p = (void *)r->tp;
        if (r->done)
            continue;
        if (p->carried_out) {
            r->done = p->due <= shm_now_ns();
            continue;
        }
        struct outgoing o = {r->op,    r->w.flags, r->w.nseg,
                             r->w.seg, r->w.total, r->immed};
        if (!p->posted && !push(c, &o, p))
            break;
        if (failed == p->index + 1) {
            r->status = DAT_DTO_ERR_REMOTE_RESPONDER;
            r->done = true;
        } else if (taken > p->index ||
                   is_received_for(c, r->op, r->w.total, p)) {
            r->done = !p->due || p->due <= shm_now_ns();
        }
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
    if (!c || core_ep_state(ep) == DAT_EP_STATE_DISCONNECTED) {
        core_ep_unlock(ep);
        core_request_done(ep, dto, done ? status : DAT_DTO_ERR_FLUSHED);
        return;
    }
    struct core_request *r = core_request_queue(ep, dto);
    memcpy(r->tp, p, sizeof *p);
    r->done = done;
    r->status = status;
    advance_and_mark(c);
    core_ep_unlock(ep);
    if (p->due) { /* a thread may sleep until something later is due */
        atomic_thread_fence(memory_order_seq_cst);
        shm_wake(ep->o.ia);
    }
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

/* When the link model lets an RDMA or atomic request complete, 0 without one.
 * Asked before the bytes are copied: an adapter would not wait for that. */
static uint64_t due_of(struct shm_conn *c, const struct core_dto *dto)
{
    bool read = dto->op != CORE_WRITE;
    if (!c->sia->clocks || dto->op == CORE_SEND || dto->op == CORE_WRITE_IMMED)
        return 0;
    return shm_model_deliver(c, dto->total, read) + c->sia->latency_ns * !read;
}

/* Completes a request that is carried out, in order and in time. */
static void finish(struct core_ep *ep, const struct core_dto *dto,
                   DAT_DTO_COMPLETION_STATUS status, uint64_t due)
{
    struct shm_request p = {.due = due};
    p.carried_out = due && status == DAT_DTO_SUCCESS;
    if (p.carried_out || core_requests_pending(ep))
        queue(ep, dto, &p, !p.carried_out, status);
    else
        core_request_done(ep, dto, status);
    if (status != DAT_DTO_SUCCESS)
        shm_abort(ep);
}

DAT_RETURN shm_post(struct core_ep *ep, const struct core_dto *dto)
{
    struct shm_conn *c = ep->tp;
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    if (c->sia->clocks)
        shm_model_overhead(c->sia);
    if (atomic_load_explicit(&c->aborted, memory_order_relaxed)) {
        finish(ep, dto, DAT_DTO_ERR_FLUSHED, 0);
        return DAT_SUCCESS;
    }
    uint64_t due = due_of(c, dto);
    switch (dto->op) {
    case CORE_SEND:
        post_message(ep, dto);
        return DAT_SUCCESS;
    case CORE_WRITE:
    case CORE_WRITE_IMMED:
        status = shm_remote_copy(c, 0, true, dto->nseg, dto->seg, dto->total,
                                 dto->remote_address, dto->remote_key,
                                 DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
        if (status == DAT_DTO_SUCCESS && dto->op == CORE_WRITE_IMMED) {
            post_message(ep, dto);
            return DAT_SUCCESS;
        }
        break;
    case CORE_READ:
        status = shm_remote_copy(c, 0, false, dto->nseg, dto->seg, dto->total,
                                 dto->remote_address, dto->remote_key,
                                 DAT_MEM_PRIV_REMOTE_READ_FLAG);
        break;
    case CORE_FETCH_ADD:
    case CORE_CMP_SWAP:
        status = shm_remote_atomic(c, dto);
        break;
    }
    finish(ep, dto, status, due);
    return DAT_SUCCESS;
}

/* ------------------------------------------------------------ receiving --- */

static void scatter(const struct core_wqe *w, const unsigned char *from,
                    size_t n)
{
    for (uint32_t i = 0; i < w->nseg && n; i++) {
        size_t len = w->seg[i].segment_length;
        if (len > n)
            len = n;
        memcpy((void *)(uintptr_t)w->seg[i].virtual_address, from, len);
        from += len;
        n -= len;
    }
}

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

/* Fetches a long message from the sender's memory. */
static DAT_DTO_COMPLETION_STATUS
fetch(struct shm_conn *c, const struct shm_msg *m, const struct core_wqe *w)
{
    DAT_LMR_TRIPLET from[CORE_MAX_IOV], to[CORE_MAX_IOV];
    uint64_t at = 0;
    const uint32_t nseg = m->nseg; /* read once: it is the peer's to write */
    if (nseg > CORE_MAX_IOV)
        return DAT_DTO_ERR_BAD_RESPONSE;
    memcpy(from, m->payload, nseg * sizeof from[0]);
    for (uint32_t i = 0; i < nseg; i++) {
        uint64_t len = from[i].segment_length;
        if (len > m->length - at)
            return DAT_DTO_ERR_BAD_RESPONSE;
        uint32_t n = slice(w, at, len, to);
        DAT_DTO_COMPLETION_STATUS status =
            shm_remote_copy(c, 1, false, n, to, len, from[i].virtual_address,
                            from[i].lmr_context, DAT_MEM_PRIV_LOCAL_READ_FLAG);
        if (status != DAT_DTO_SUCCESS)
            return status;
        at += len;
    }
    return DAT_DTO_SUCCESS;
}

/* Gives the lines of a message back; continuation lines must not be taken for
 * the head of a later one. */
static void release_lines(struct shm_conn *c, uint64_t lines)
{
    uint64_t head = rx_head(c);
    for (uint64_t i = 1; i < lines; i++)
        atomic_store_explicit(&rx_line(c, head + i)->seq, 0,
                              memory_order_relaxed);
    head += lines;
    atomic_store_explicit(&c->rx_head, head, memory_order_relaxed);
    atomic_store_explicit(&c->rx->head, head, memory_order_release);
}

/* Receives one message; false when there is none or no receive for it. */
static bool receive(struct shm_conn *c)
{
    struct core_wqe copy, *w;
    struct shm_msg *m = rx_line(c, rx_head(c));
    if (atomic_load_explicit(&c->aborted, memory_order_relaxed) ||
        !rx_ready(c) || !(w = core_recv_peek(c->ep, &copy)))
        return false;

    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    uint64_t length = m->length;
    uint32_t immed = m->immed;
    bool solicited = m->solicited, with_immed = m->kind == SHM_IMMED;
    size_t payload = 0;
    if (m->kind == SHM_INLINE) {
        payload = length <= SHM_INLINE_MAX ? length : 0;
        if (length > SHM_INLINE_MAX)
            status = DAT_DTO_ERR_BAD_RESPONSE;
        else if (length > w->total)
            status = DAT_DTO_ERR_LOCAL_LENGTH;
        else
            scatter(w, m->payload, length);
    } else if (m->kind == SHM_FETCH) {
        payload = m->nseg * sizeof(DAT_LMR_TRIPLET);
        status = length > w->total ? DAT_DTO_ERR_LOCAL_LENGTH : fetch(c, m, w);
    } else if (!with_immed) {
        status = DAT_DTO_ERR_BAD_RESPONSE;
    }
    release_lines(c, lines_for(payload));
    uint64_t index = c->rx_taken++;
    if (status != DAT_DTO_SUCCESS)
        atomic_store_explicit(&c->rx->failed, index + 1, memory_order_release);
    atomic_store_explicit(&c->rx->taken, index + 1, memory_order_release);
    core_recv_done(c->ep, w, status, length, solicited,
                   with_immed ? &immed : NULL);
    if (status != DAT_DTO_SUCCESS)
        shm_abort(c->ep);
    return status == DAT_DTO_SUCCESS;
}

/* The peer waits for our counters: it must look again. */
static void tell_sender(struct shm_conn *c)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&c->rx->pending, memory_order_relaxed))
        shm_ring_doorbell(c->peer->control.door);
}

void shm_progress(struct core_ep *ep, bool sure)
{
    struct shm_conn *c = ep->tp;
    if (!sure) {
        if (!c || (!rx_ready(c) && !core_requests_pending(ep)) ||
            !core_ep_trylock(ep))
            return;
    } else {
        core_ep_lock(ep);
        c = ep->tp;
    }
    DAT_EP_STATE state = core_ep_state(ep);
    if (c && (state == DAT_EP_STATE_CONNECTED ||
              state == DAT_EP_STATE_DISCONNECT_PENDING)) {
        bool any = false;
        while (receive(c))
            any = true;
        if (core_requests_pending(ep))
            advance_and_mark(c);
        if (any)
            tell_sender(c);
    }
    core_ep_unlock(ep);
}

uint64_t shm_next_due(struct core_ep *ep, uint64_t seen)
{
    uint64_t next = UINT64_MAX;
    if (!shm_ia(ep->o.ia)->clocks)
        return next;
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    if (c && c->segment) {
        uint64_t head = atomic_load(&ep->sq_head);
        if (core_requests_pending(ep)) {
            const struct core_request *r = core_request_at(ep, head);
            const struct shm_request *p = (const void *)r->tp;
            if (!r->done && p->due > seen)
                next = p->due;
        }
        if (rx_arrived(c) && rx_line(c, rx_head(c))->due > seen &&
            rx_line(c, rx_head(c))->due < next)
            next = rx_line(c, rx_head(c))->due;
    }
    core_ep_unlock(ep);
    return next;
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
    if (capacity <
        atomic_load_explicit(&c->rx->min_capacity, memory_order_relaxed))
        atomic_store_explicit(&c->rx->min_capacity, capacity,
                              memory_order_release);
    uint64_t before =
        atomic_load_explicit(&c->rx->posted, memory_order_relaxed);
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
    return DAT_SUCCESS;
}

void shm_recv_posted(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    publish_receives(c,
                     atomic_load_explicit(&ep->rq_tail, memory_order_relaxed) -
                         c->rq_base);
    /* a message may have come before, and found no receive */
    if (rx_arrived(c))
        shm_wake(ep->o.ia);
}

void shm_recv_announce(struct shm_conn *c)
{
    struct core_ep *ep = c->ep;
    if (ep->srq) /* which receive it will be is not known: any will do */
        publish_receives(c, UINT64_MAX / 2);
    else
        publish_receives(c, atomic_load(&ep->rq_tail) - c->rq_base);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data path. Short requests without a completion event are injected: they
 * are complete when posted. Others wait in the EP's queue of unfinished
 * requests for libfabric's completion. For requests with an event, that means
 * that the peer has placed or received the data, and, as a peer takes
 * everything in order, those of all earlier requests.
 *
 * The consumer's receives are given to libfabric. An RDMA write with immediate
 * data is a write and an empty send that carries them: it consumes a receive,
 * as in DAT.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "ofi.h"
#include "providers/core/last_word.h"
#include "providers/core/segments.h"
#include "providers/core/thread.h"

#define BATCH       64
#define INJECT_MAX  256
#define INJECT_RUN  32
#define REMOTE_MOST 65536 /* more than are unread at any time */

static void *desc_of(const struct ofi_ia *oia, uint32_t key)
{
    const struct ofi_range *range = oia->ia->mrs[key % CORE_MAX_MRS].tp;
    return oia->local_keys && range ? fi_mr_desc(range->fid) : NULL;
}

struct pieces { /* local segments, as libfabric describes them */
    size_t count;
    struct iovec iov[CORE_MAX_IOV];
    void *desc[CORE_MAX_IOV];
};

/* The first @p bytes of a list of segments. */
static void take_pieces(const struct ofi_ia *oia, uint32_t nseg,
                        const DAT_LMR_TRIPLET *seg, uint64_t bytes,
                        struct pieces *p)
{
    p->count = 0;
    for (uint32_t i = 0; i < nseg && bytes; i++) {
        size_t len = seg[i].segment_length < bytes ? seg[i].segment_length
                                                   : (size_t)bytes;
        if (!len)
            continue;
        p->iov[p->count] =
            (struct iovec){(void *)(uintptr_t)seg[i].virtual_address, len};
        p->desc[p->count++] = desc_of(oia, seg[i].lmr_context);
        bytes -= len;
    }
}

/* ------------------------------------------------------------- requests --- */

static uint64_t send_data(const struct ofi_conn *c, const struct core_dto *dto)
{
    uint64_t data = ofi_access_leaves(c, dto) ? OFI_LEFT : 0;
    if (dto->flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG)
        data |= OFI_SOLICITED;
    if (dto->op == CORE_WRITE_IMMED)
        data |= OFI_IMMED | dto->total << 32 | dto->immed;
    return data;
}

static bool tells(const struct core_dto *dto)
{
    return !(dto->flags & DAT_COMPLETION_SUPPRESS_FLAG);
}

/* An adapter's completions mean that anyway. In a burst a marker will tell. */
static uint64_t completion(const struct ofi_conn *c, const struct core_dto *dto)
{
    bool asks = c->oia->talks && tells(dto) && !c->corked;
    return FI_COMPLETION | (asks ? FI_DELIVERY_COMPLETE : 0);
}

static ssize_t give_send(struct ofi_conn *c, const struct core_dto *dto,
                         const struct pieces *p, void *context)
{
    struct fi_msg m = {.msg_iov = p->iov,
                       .desc = (void **)p->desc,
                       .iov_count = p->count,
                       .context = context,
                       .data = c->oia->talks ? send_data(c, dto) : 0};
    uint64_t flags = completion(c, dto) | (m.data ? FI_REMOTE_CQ_DATA : 0);
    ssize_t err = fi_sendmsg(c->fid, &m, flags);
    if (!err)
        ofi_access_sent(c, m.data);
    return err;
}

/* The peer's memory. Over TCP, the first and the last word of a write are
 * pieces of their own. The target may poll both: MPI libraries read a length
 * and a flag in the first word, then a flag in the last word. The target's
 * libfabric copies each piece by memcpy. That may store the first bytes of a
 * long piece in any order, and twice (glibc on AMD: `rep movsb`). The last word
 * becomes visible last (core/last_word.h), but not whole: a packet may end
 * within it. */
static size_t take_remote(const struct ofi_conn *c, const struct core_dto *dto,
                          struct fi_rma_iov there[3])
{
    uint64_t at = dto->remote_address, key = dto->remote_key;
    size_t n = 0, total = dto->total, first = 0, last = total;
    if (!total) { /* its key is not checked */
        at = c->peer_control;
        key = OFI_CONTROL_KEY;
    } else if (c->oia->talks && dto->op != CORE_READ) {
        last = core_last_word(at, total);
        first = total - last > 8 ? 8 - at % 8 : 0;
    }
    if (first)
        there[n++] = (struct fi_rma_iov){at, first, key};
    if (first + last < total)
        there[n++] = (struct fi_rma_iov){at + first, total - first - last, key};
    there[n++] = (struct fi_rma_iov){at + total - last, last, key};
    return n;
}

static ssize_t give_remote(struct ofi_conn *c, const struct core_dto *dto,
                           const struct pieces *p, void *context,
                           uint64_t flags)
{
    struct fi_rma_iov there[3];
    size_t n = take_remote(c, dto, there);
    struct fi_msg_rma m = {.msg_iov = p->iov,
                           .desc = (void **)p->desc,
                           .iov_count = p->count,
                           .rma_iov = there,
                           .rma_iov_count = n,
                           .context = context};
    if (dto->total && dto->flags & DAPL_WRITE_COUNTED_FLAG) {
        m.data = OFI_CONTROL | OFI_COUNTED | c->peer_id;
        flags |= FI_REMOTE_CQ_DATA;
    }
    return dto->op == CORE_READ ? fi_readmsg(c->fid, &m, flags)
                                : fi_writemsg(c->fid, &m, flags);
}

/* Tells the peer before the first access to its memory. */
static ssize_t announce(struct ofi_conn *c, const struct core_dto *dto)
{
    return dto->op == CORE_SEND || !dto->total ? 0 : ofi_access_enter(c);
}

/* Gives a request to libfabric, to be completed under that context. */
static ssize_t give(struct ofi_conn *c, const struct core_dto *dto,
                    struct ofi_op *op)
{
    static const struct pieces nothing;
    struct pieces p;
    ssize_t err = announce(c, dto);
    if (err)
        return err;
    take_pieces(c->oia, dto->nseg, dto->seg, dto->total, &p);
    switch (dto->op) {
    case CORE_SEND:
        return give_send(c, dto, &p, op);
    case CORE_WRITE_IMMED:
        err = dto->total ? give_remote(c, dto, &p, NULL, 0) : 0;
        return err ? err : give_send(c, dto, &nothing, op);
    case CORE_READ:
        return give_remote(c, dto, &p, op, FI_COMPLETION);
    default:
        return give_remote(c, dto, &p, op, completion(c, dto));
    }
}

static ssize_t inject_write(struct ofi_conn *c, const struct core_dto *dto)
{
    struct pieces p;
    take_pieces(c->oia, dto->nseg, dto->seg, dto->total, &p);
    return give_remote(c, dto, &p, NULL, FI_INJECT);
}

static const void *gather(const struct core_dto *dto,
                          unsigned char room[INJECT_MAX])
{
    if (dto->nseg == 1)
        return (void *)(uintptr_t)dto->seg[0].virtual_address;
    core_gather(room, dto->nseg, dto->seg);
    return room;
}

/* libfabric copies it: the request is complete. */
static ssize_t inject(struct ofi_conn *c, const struct core_dto *dto)
{
    unsigned char room[INJECT_MAX];
    ssize_t err = announce(c, dto);
    if (!err && dto->op != CORE_SEND && dto->total)
        err = inject_write(c, dto);
    if (err || dto->op == CORE_WRITE)
        return err;
    const void *from = gather(dto, room);
    size_t bytes = dto->op == CORE_SEND ? dto->total : 0;
    uint64_t data = c->oia->talks ? send_data(c, dto) : 0;
    err = data ? fi_injectdata(c->fid, from, bytes, data, 0)
               : fi_inject(c->fid, from, bytes, 0);
    if (!err)
        ofi_access_sent(c, data);
    return err;
}

/* libfabric keeps injected data that it can't send yet, without a completion.
 * So now and then a request must be one that it completes: then a full queue is
 * noticed. */
static bool may_inject(const struct ofi_conn *c, const struct core_dto *dto)
{
    size_t limit = c->oia->info->tx_attr->inject_size;
    return dto->op != CORE_READ && !tells(dto) && dto->total <= limit &&
           dto->total <= INJECT_MAX && c->injected < INJECT_RUN;
}

/* Is there no control message to send, or to wait for? */
static bool is_nothing(const struct ofi_conn *c, const struct core_dto *dto)
{
    bool asks = dto->op == CORE_WRITE && c->oia->talks && tells(dto);
    return !dto->total && !asks &&
           (dto->op == CORE_WRITE || dto->op == CORE_READ);
}

/* Gives a queued request to libfabric: 0, or -errno. */
static ssize_t start(struct ofi_conn *c, struct core_request *r,
                     const struct core_dto *dto)
{
    struct ofi_request *p = (void *)r->tp;
    ssize_t err = 0;
    if (is_nothing(c, dto)) {
        r->done = true;
    } else if (may_inject(c, dto)) {
        err = inject(c, dto);
        r->done = !err;
        c->injected += !err;
    } else {
        p->op = (struct ofi_op){c, OFI_REQUEST};
        bool marked = c->corked && tells(dto) && dto->op != CORE_READ;
        p->waits = OFI_WAITS_SENT | (marked ? OFI_WAITS_MARKER : 0);
        err = give(c, dto, &p->op);
        c->unmarked |= !err && marked;
        c->reads += !err && dto->op == CORE_READ;
        c->injected = err ? c->injected : 0;
    }
    return err;
}

/* After a request that libfabric refused, none is given: it would overtake that
 * one. The rest is flushed when the connection has ended. */
static bool may_give(const struct ofi_conn *c)
{
    return c->open && !atomic_load(&c->failed);
}

void ofi_issue(struct ofi_conn *c)
{
    struct core_ep *ep = c->ep;
    uint64_t end = atomic_load(&ep->sq_tail);
    if (end > c->held)
        end = c->held;
    c->stuck = false;
    for (; may_give(c) && c->next_request != end; c->next_request++) {
        struct core_request *r = core_request_at(ep, c->next_request);
        struct ofi_request *p = (void *)r->tp;
        struct core_dto dto = core_request_dto(r);
        dto.remote_address = p->remote_address;
        dto.remote_key = p->remote_key;
        if (c->reads && (dto.flags & DAT_COMPLETION_BARRIER_FENCE_FLAG))
            break;
        ssize_t err = start(c, r, &dto);
        if (err == -FI_EAGAIN) {
            c->stuck = true;
            break;
        }
        if (err) {
            r->done = true;
            r->status = DAT_DTO_ERR_TRANSPORT;
            ofi_break_off(c);
        }
    }
    ofi_burst_mark(c);
    core_requests_retire(ep);
    ofi_access_answer(c);
}

DAT_RETURN ofi_post(struct core_ep *ep, const struct core_dto *dto)
{
    if (dto->op == CORE_WRITE_IMMED && dto->total > OFI_IMMED_MAX)
        return CORE_ERROR(DAT_LENGTH_ERROR, 0);
    int state = core_cancel_off();
    core_ep_lock(ep);
    struct ofi_conn *c = ep->tp;
    bool open = c && c->open && !atomic_load(&c->aborted);
    if (open)
        ofi_burst_posts(c);
    bool grows = open && dto->grows && c->corked;
    if (open && may_give(c) && !grows && !core_requests_pending(ep) &&
        !is_nothing(c, dto) && may_inject(c, dto) && !inject(c, dto)) {
        c->injected++;
        core_request_done(ep, dto, DAT_DTO_SUCCESS);
        goto out;
    }
    struct core_request *r = core_request_queue(ep, dto);
    struct ofi_request *p = (void *)r->tp;
    p->remote_address = dto->remote_address;
    p->remote_key = dto->remote_key;
    if (open) {
        c->held = grows ? atomic_load(&ep->sq_tail) - 1 : OFI_NONE_HELD;
        ofi_issue(c);
        if (c->stuck)
            ofi_thread_wake(c->oia);
    } else {
        r->done = true;
        r->status = DAT_DTO_ERR_FLUSHED;
        core_requests_retire(ep);
    }
out:
    core_ep_unlock(ep);
    core_cancel_as(state);
    return DAT_SUCCESS;
}

/* ------------------------------------------------------------- receives --- */

int ofi_recv_hand(struct ofi_conn *c, const struct core_wqe *w)
{
    struct pieces p;
    take_pieces(c->oia, w->nseg, w->seg, w->total, &p);
    struct fi_msg m = {.msg_iov = p.iov,
                       .desc = p.desc,
                       .iov_count = p.count,
                       .context = &c->receive};
    return (int)fi_recvmsg(c->fid, &m, FI_COMPLETION);
}

DAT_RETURN ofi_recv_post(struct core_ep *ep, const struct core_wqe *w)
{
    int state = core_cancel_off(), err = 0;
    core_ep_lock(ep);
    struct ofi_conn *c = ep->tp;
    if (c && c->fid)
        err = ofi_recv_hand(c, w);
    if (!err)
        core_recv_add(ep); /* before another thread can see that it is filled */
    core_ep_unlock(ep);
    core_cancel_as(state);
    return err ? CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE)
               : DAT_SUCCESS;
}

static void receive(struct ofi_conn *c, DAT_DTO_COMPLETION_STATUS status,
                    uint64_t length, uint64_t data)
{
    uint32_t immed = (uint32_t)data;
    if (data & OFI_IMMED)
        length = data >> 32 & OFI_IMMED_MAX;
    struct core_wqe *w = core_recv_peek(c->ep, NULL);
    if (w)
        core_recv_done(c->ep, w, status, length,
                       !c->oia->talks || data & OFI_SOLICITED,
                       data & OFI_IMMED ? &immed : NULL);
}

void ofi_receive_early(struct ofi_conn *c)
{
    for (struct ofi_early *e; (e = c->early);) {
        c->early = e->next;
        receive(c, e->status, e->length, e->data);
        free(e);
    }
    c->early_end = &c->early;
}

/* A receive has completed before the event that the connection is up: the
 * consumer must get that event first. */
static void keep_early(struct ofi_conn *c, DAT_DTO_COMPLETION_STATUS status,
                       uint64_t length, uint64_t data)
{
    struct ofi_early *e = malloc(sizeof *e);
    if (!e) {
        ofi_break_off(c);
        return;
    }
    *e = (struct ofi_early){NULL, status, length, data};
    *c->early_end = e;
    c->early_end = &e->next;
}

static void on_receive(struct ofi_conn *c, DAT_DTO_COMPLETION_STATUS status,
                       uint64_t length, uint64_t data)
{
    if (c->live)
        receive(c, status, length, data);
    else
        keep_early(c, status, length, data);
}

/* ---------------------------------------------------------- completions --- */

uint64_t ofi_writes_counted(struct core_ep *ep)
{
    const struct ofi_conn *c = ep->tp;
    return atomic_load(&c->counted);
}

static void on_control(struct ofi_ia *oia, uint64_t data)
{
    struct ofi_conn *c = oia->by_id[(uint32_t)data % OFI_MAX_EPS];
    if (!c || c->id != (uint32_t)data)
        return;
    if (data & OFI_COUNTED) {
        atomic_fetch_add(&c->counted, 1);
        return;
    }
    if (data & OFI_BYE)
        atomic_store(&c->bye, true);
    if (data & OFI_CONFIRM && !atomic_exchange(&c->confirmed, true))
        ofi_thread_wake(oia);
    ofi_access_heard(c, data);
}

static void on_request(struct ofi_conn *c, struct ofi_op *op,
                       DAT_DTO_COMPLETION_STATUS status)
{
    struct core_request *r = core_request_of(c->ep, op);
    struct ofi_request *p = (void *)r->tp;
    p->waits &= ~OFI_WAITS_SENT;
    r->done = status || !p->waits;
    r->status = status;
    c->reads -= r->op == CORE_READ;
    ofi_issue(c);
}

static void on_marker(struct ofi_conn *c, struct ofi_op *op)
{
    ofi_burst_marked(c, op);
    ofi_issue(c); /* retires what is done, and marks what came later */
}

static void on_completion(struct ofi_ia *oia, const struct fi_cq_data_entry *e)
{
    if (e->flags & FI_REMOTE_WRITE) {
        if (e->data & OFI_CONTROL)
            on_control(oia, e->data);
        return;
    }
    struct ofi_op *op = e->op_context;
    struct ofi_conn *c = op->conn;
    uint64_t data = e->flags & FI_REMOTE_CQ_DATA ? e->data : 0;
    if (op->kind == OFI_RECEIVE && !(data & OFI_IMMED) && data & OFI_LEFT)
        c->peer_inside = false;
    core_ep_lock(c->ep);
    if (!c->fid)
        ; /* it has ended: all was flushed */
    else if (op->kind == OFI_MARKER)
        on_marker(c, op);
    else if (op->kind == OFI_REQUEST)
        on_request(c, op, DAT_DTO_SUCCESS);
    else
        on_receive(c, DAT_DTO_SUCCESS, e->len, data);
    core_ep_unlock(c->ep);
}

static DAT_DTO_COMPLETION_STATUS status_of(int err)
{
    switch (err) {
    case FI_ECANCELED:
    case FI_ENOTCONN: /* these only follow from the end of the connection */
    case FI_ECONNRESET:
    case FI_ESHUTDOWN:
    case EPIPE:
        return DAT_DTO_ERR_FLUSHED;
    case FI_ETRUNC:
    case FI_EMSGSIZE:
    case FI_ETOOSMALL:
        return DAT_DTO_ERR_LOCAL_LENGTH;
    case FI_EACCES:
    case FI_EPERM:
    case FI_EKEYREJECTED:
        return DAT_DTO_ERR_REMOTE_ACCESS;
    default:
        return DAT_DTO_ERR_TRANSPORT;
    }
}

/* Receives that are cancelled are flushed when the connection ends. */
static void on_error(struct ofi_ia *oia)
{
    struct fi_cq_err_entry e = {0};
    if (fi_cq_readerr(oia->cq, &e, 0) != 1 || !e.op_context)
        return;
    struct ofi_op *op = e.op_context;
    struct ofi_conn *c = op->conn;
    DAT_DTO_COMPLETION_STATUS status = status_of(e.err);
    core_ep_lock(c->ep);
    if (c->fid && status != DAT_DTO_ERR_FLUSHED) {
        if (op->kind == OFI_RECEIVE)
            on_receive(c, status, 0, 0);
        else if (op->kind == OFI_REQUEST)
            on_request(c, op, status);
        ofi_break_off(c);
    }
    core_ep_unlock(c->ep);
}

/* Reads the CQ; cq_lock is held. False: it was empty. */
static bool drain(struct ofi_ia *oia)
{
    struct fi_cq_data_entry entries[BATCH];
    bool any = false;
    ofi_bursts_end(oia);
    for (;;) {
        ssize_t n = fi_cq_read(oia->cq, entries, BATCH);
        if (n == -FI_EAVAIL)
            on_error(oia);
        else if (n <= 0)
            return any;
        for (ssize_t i = 0; i < n; i++)
            on_completion(oia, &entries[i]);
        any = true;
        if (n > 0 && n < BATCH)
            return any;
    }
}

void ofi_drain_most(struct ofi_ia *oia, size_t most)
{
    struct fi_cq_data_entry entries[BATCH];
    size_t remote = 0;
    while (most && remote < REMOTE_MOST) {
        ssize_t n = fi_cq_read(oia->cq, entries, most < BATCH ? most : BATCH);
        if (n == -FI_EAVAIL) {
            on_error(oia);
            most--;
        } else if (n <= 0) {
            return;
        }
        for (ssize_t i = 0; i < n; i++) {
            on_completion(oia, &entries[i]);
            /* a control message, or a counted write, is neither */
            bool is_remote = entries[i].flags & FI_REMOTE_WRITE;
            remote += is_remote;
            most -= !is_remote;
        }
    }
}

void ofi_advance(struct ofi_ia *oia, bool sure)
{
    if (!atomic_load_explicit(&oia->open_conns, memory_order_relaxed))
        return;
    int state = core_cancel_off();
    if (sure)
        core_lock_wanted(&oia->cq_lock, &oia->cq_wanted);
    if (sure || core_lock_to_poll(&oia->cq_lock, &oia->cq_wanted)) {
        ofi_signal_polled(oia);
        drain(oia);
        pthread_mutex_unlock(&oia->cq_lock);
    }
    core_cancel_as(state);
}

bool ofi_look(struct ofi_ia *oia, bool *any)
{
    struct fid *cq = &oia->cq->fid;
    pthread_mutex_lock(&oia->cq_lock);
    *any = drain(oia);
    ofi_signal_unmute(oia);
    int busy = fi_trywait(oia->fabric, &cq, 1);
    if (busy) /* perhaps by what it has just moved into the CQ itself */
        *any |= drain(oia);
    pthread_mutex_unlock(&oia->cq_lock);
    return !busy;
}

void ofi_progress(struct core_ia *ia, bool sure)
{
    struct ofi_ia *oia = ofi_ia(ia);
    atomic_fetch_add_explicit(&oia->polls, 1, memory_order_relaxed);
    ofi_advance(oia, sure);
}

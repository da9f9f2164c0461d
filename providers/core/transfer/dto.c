/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data Transfer Operations: the checks of posts, the queues of an EP, and the
 * completion events.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/core/internal.h"
#include "providers/core/segments.h"
#include "providers/core/extensions.h"

/* -------------------------------------------------------------- events --- */

struct op_names {
    int event;     /* DAT_EVENT_NUMBER, or an extension's */
    int operation; /* DAT_DTOS, or an extension's */
    int ext_type;
};

static const struct op_names request_names[] = {
    [CORE_SEND] = {DAT_DTO_COMPLETION_EVENT, DAT_DTO_SEND, 0},
    [CORE_WRITE] = {DAT_DTO_COMPLETION_EVENT, DAT_DTO_RDMA_WRITE, 0},
    [CORE_WRITE_IMMED] = {(int)DAT_IB_DTO_EVENT, DAT_IB_DTO_RDMA_WRITE_IMMED,
                          DAT_IB_RDMA_WRITE_IMMED},
    [CORE_READ] = {DAT_DTO_COMPLETION_EVENT, DAT_DTO_RDMA_READ, 0},
    [CORE_FETCH_ADD] = {(int)DAT_IB_DTO_EVENT, DAT_IB_DTO_FETCH_ADD,
                        DAT_IB_FETCH_AND_ADD},
    [CORE_CMP_SWAP] = {(int)DAT_IB_DTO_EVENT, DAT_IB_DTO_CMP_SWAP,
                       DAT_IB_CMP_AND_SWAP},
};

/* Posts the event of a DTO. If the EVD is full, breaks the connection: false.
 */
static bool dto_event(struct core_ep *ep, struct core_evd *evd,
                      const struct op_names *names, DAT_DTO_COOKIE cookie,
                      DAT_DTO_COMPLETION_STATUS status, uint64_t length,
                      uint32_t immed, bool notify)
{
    DAT_EVENT *e = core_evd_reserve(evd);
    if (!e) {
        ep->o.ia->transport->abort(ep);
        return false;
    }
    DAT_DTO_COMPLETION_EVENT_DATA *d = &e->event_data.dto_completion_event_data;
    e->event_number = (DAT_EVENT_NUMBER)names->event;
    d->ep_handle = ep;
    d->user_cookie = cookie;
    d->status = status;
    d->transfered_length = (DAT_SEG_LENGTH)length;
    d->operation = (DAT_DTOS)names->operation;
    d->rmr_context = 0;
    if (names->event != DAT_DTO_COMPLETION_EVENT) {
        DAT_IB_EXTENSION_EVENT_DATA *x =
            (DAT_IB_EXTENSION_EVENT_DATA *)e->event_extension_data;
        memset(e->event_extension_data, 0, sizeof e->event_extension_data);
        x->type = (DAT_IB_EXT_TYPE)names->ext_type;
        x->status = (DAT_IB_STATUS)status;
        x->val.immed.data = immed;
    }
    core_evd_commit(evd, e, notify);
    return true;
}

void core_request_event(struct core_ep *ep, enum core_op op,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
                        DAT_DTO_COMPLETION_STATUS status, uint64_t length)
{
    /* Errors are never suppressed, and end waits. */
    bool failed = status != DAT_DTO_SUCCESS;
    if (!failed && (flags & DAT_COMPLETION_SUPPRESS_FLAG))
        return;
    dto_event(ep, ep->request_evd, &request_names[op], cookie, status,
              failed ? 0 : length, 0,
              failed || !(flags & DAT_COMPLETION_UNSIGNALLED_FLAG));
}

/* ------------------------------------------------------------- requests --- */

typedef uint64_t __attribute__((may_alias)) word_t;

/* A request's room, which ends at a multiple of 8 bytes. libc's memset costs
 * more for so few bytes, as its memcpy does (core_segments_copy). (volatile:
 * else the compiler makes this a memset.) */
static void clear(void *at, size_t bytes)
{
    for (volatile word_t *word = at; bytes; bytes -= bytes < 8 ? bytes : 8)
        *word++ = 0;
}

/* Places come round seldom, so the next one is in no near cache. */
static void prefetch(struct core_ep *ep, uint64_t number)
{
    const unsigned char *at = (void *)core_request_at(ep, number);
    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + 64, 1);
    __builtin_prefetch(at + ep->sq_tp, 1);
    __builtin_prefetch(at + ep->sq_tp + 64, 1);
}

struct core_request *core_request_queue(struct core_ep *ep,
                                        const struct core_dto *dto)
{
    const struct core_transport *t = ep->o.ia->transport;
    uint64_t tail = atomic_load_explicit(&ep->sq_tail, memory_order_relaxed);
    struct core_request *r = core_request_at(ep, tail);
    r->op = dto->op;
    r->immed = dto->immed;
    r->done = false;
    r->status = DAT_DTO_SUCCESS;
    r->tp = (unsigned char *)r + ep->sq_tp;
    clear(r->tp, t->request_size - t->request_unset);
    r->w.cookie = dto->cookie;
    r->w.flags = dto->flags;
    r->w.nseg = dto->is_inline ? 0 : dto->nseg; /* its bytes are copied */
    r->w.total = dto->total;
    core_segments_copy(r->w.seg, dto->seg, r->w.nseg);
    atomic_store_explicit(&ep->sq_tail, tail + 1, memory_order_release);
    prefetch(ep, tail + 1);
    return r;
}

/* A request behind one that has failed does not succeed, even if it is carried
 * out: a success tells that all before have succeeded. */
void core_requests_retire(struct core_ep *ep)
{
    uint64_t head = atomic_load_explicit(&ep->sq_head, memory_order_relaxed);
    while (head != atomic_load_explicit(&ep->sq_tail, memory_order_acquire)) {
        struct core_request *r = core_request_at(ep, head);
        if (!r->done)
            break;
        if (ep->sq_failed && r->status == DAT_DTO_SUCCESS)
            r->status = DAT_DTO_ERR_FLUSHED;
        ep->sq_failed = r->status != DAT_DTO_SUCCESS;
        core_request_event(ep, r->op, r->w.cookie, r->w.flags, r->status,
                           r->w.total);
        atomic_store_explicit(&ep->sq_head, ++head, memory_order_release);
    }
}

/* Doubles the room. Called by the poster, while another thread may complete
 * requests. */
static int requests_grow(struct core_ep *ep)
{
    uint32_t mask = 2 * ep->sq_mask + 1;
    unsigned char *sq = malloc((mask + 1) * (size_t)ep->sq_stride);
    if (!sq)
        return -1;
    core_ep_lock(ep);
    for (uint64_t n = atomic_load(&ep->sq_head); n != atomic_load(&ep->sq_tail);
         n++) {
        struct core_request *r = (void *)(sq + (n & mask) * ep->sq_stride);
        memcpy(r, core_request_at(ep, n), ep->sq_stride);
        r->tp = (unsigned char *)r + ep->sq_tp;
    }
    unsigned char *old = ep->sq;
    ep->sq = sq;
    ep->sq_mask = mask;
    core_ep_unlock(ep);
    free(old);
    return 0;
}

static DAT_RETURN post_sync(struct core_ep *ep, struct core_dto *dto)
{
    if (core_ep_state(ep) != DAT_EP_STATE_CONNECTED ||
        core_requests_pending(ep))
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, 0);
    return ep->o.ia->transport->post_sync(ep, dto);
}

static inline DAT_RETURN post_request(struct core_ep *ep, struct core_dto *dto)
{
    if (dto->flags & DAPL_RDMA_SYNC_FLAG)
        return post_sync(ep, dto);
    DAT_EP_STATE state = core_ep_state(ep);
    if (state == DAT_EP_STATE_DISCONNECTED) {
        /* accepted and flushed, as DAT specifies, after older requests, whose
         * flush may be going on */
        core_ep_flush(ep);
        core_request_done(ep, dto, DAT_DTO_ERR_FLUSHED);
        return DAT_SUCCESS;
    }
    if (state != DAT_EP_STATE_CONNECTED)
        return core_ep_bad_state(state);
    uint64_t used = atomic_load_explicit(&ep->sq_tail, memory_order_relaxed) -
                    atomic_load_explicit(&ep->sq_head, memory_order_acquire);
    if (used >= (uint64_t)ep->attr.max_request_dtos) {
        /* some may be complete without anyone having looked */
        core_progress(ep->o.ia, ep, true);
        used = atomic_load_explicit(&ep->sq_tail, memory_order_relaxed) -
               atomic_load_explicit(&ep->sq_head, memory_order_acquire);
        if (used >= (uint64_t)ep->attr.max_request_dtos)
            return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, 0);
    }
    if (used > ep->sq_mask && requests_grow(ep))
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    return ep->o.ia->transport->post(ep, dto);
}

static const int request_flags =
    DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
    DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;

/* The segments of an inline send, which are in no registration. */
static DAT_RETURN check_inline(const struct core_ability *can, DAT_COUNT nseg,
                               const DAT_LMR_TRIPLET *seg, uint64_t *total)
{
    DAT_RETURN bad = core_check_list(nseg, (DAT_COUNT)can->max_iov, seg);
    for (DAT_COUNT i = 0; bad == DAT_SUCCESS && i < nseg; i++)
        *total += seg[i].segment_length;
    return bad;
}

/* The flags are those of an append alone. */
static DAT_RETURN append(struct core_ep *ep, DAT_COUNT nseg,
                         const DAT_LMR_TRIPLET *seg)
{
    uint64_t total;
    DAT_RETURN bad = core_check_iov(ep->o.ia, ep->pz, nseg, 1, seg,
                                    DAT_MEM_PRIV_LOCAL_READ_FLAG, &total);
    if (bad != DAT_SUCCESS)
        return bad;
    return nseg && ep->o.ia->transport->append(ep, seg)
               ? DAT_SUCCESS
               : CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, 0);
}

/* Lengths are checked against the IA's maxima. The EP attributes of the same
 * names do not limit them: verbs providers do not enforce these, and the
 * genuine dtest writes more than it asked for. */
DAT_RETURN core_post_send(DAT_EP_HANDLE handle, DAT_COUNT nseg,
                          DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie,
                          DAT_COMPLETION_FLAGS flags)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    const struct core_ability *can = &ep->o.ia->can;
    bool is_inline = can->max_inline_send && flags & DAPL_SEND_INLINE_FLAG;
    if (is_inline)
        flags &= ~DAPL_SEND_INLINE_FLAG;
    if (can->grows && flags == DAPL_SEND_APPEND_FLAG && ep->pz)
        return append(ep, nseg, seg);
    bool grows = can->grows && flags & DAPL_SEND_GROWS_FLAG;
    if (grows)
        flags &= ~DAPL_SEND_GROWS_FLAG;
    if (flags & ~request_flags)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (!ep->pz || !ep->request_evd)
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONFIGURED);
    struct core_dto dto = {.op = CORE_SEND,
                           .cookie = cookie,
                           .flags = flags,
                           .nseg = (uint32_t)nseg,
                           .seg = seg,
                           .is_inline = is_inline,
                           .grows = grows};
    DAT_RETURN bad =
        is_inline
            ? check_inline(can, nseg, seg, &dto.total)
            : core_check_iov(ep->o.ia, ep->pz, nseg, ep->attr.max_request_iov,
                             seg, DAT_MEM_PRIV_LOCAL_READ_FLAG, &dto.total);
    if (bad != DAT_SUCCESS)
        return bad;
    if (dto.total > (is_inline ? can->max_inline_send : can->max_message_size))
        return CORE_ERROR(DAT_LENGTH_ERROR, 0);
    return post_request(ep, &dto);
}

static int flags_of(const struct core_ability *can, enum core_op op)
{
    bool is_rdma = op == CORE_WRITE || op == CORE_READ;
    return request_flags |
           (op == CORE_WRITE && can->counts ? DAPL_WRITE_COUNTED_FLAG : 0) |
           (is_rdma && can->syncs ? DAPL_RDMA_SYNC_FLAG : 0);
}

DAT_RETURN core_post_remote(DAT_EP_HANDLE handle, struct core_dto *dto,
                            const DAT_RMR_TRIPLET *remote, int local_priv)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (dto->flags & ~flags_of(&ep->o.ia->can, dto->op))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
    if (!remote)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (!ep->pz || !ep->request_evd)
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONFIGURED);
    DAT_COUNT max = dto->op == CORE_READ ? ep->attr.max_rdma_read_iov
                                         : ep->attr.max_rdma_write_iov;
    DAT_RETURN bad = core_check_iov(ep->o.ia, ep->pz, (DAT_COUNT)dto->nseg, max,
                                    dto->seg, local_priv, &dto->total);
    if (bad != DAT_SUCCESS)
        return bad;
    /* a read fills all local segments; a write may use a part of its target */
    if (dto->total > ep->o.ia->can.max_rdma_size ||
        (dto->op == CORE_READ ? dto->total < remote->segment_length
                              : dto->total > remote->segment_length))
        return CORE_ERROR(DAT_LENGTH_ERROR, 0);
    if (dto->op == CORE_READ)
        dto->total = remote->segment_length;
    dto->remote_address = remote->virtual_address;
    dto->remote_key = remote->rmr_context;
    return post_request(ep, dto);
}

DAT_RETURN core_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT nseg,
                                DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie,
                                const DAT_RMR_TRIPLET *remote,
                                DAT_COMPLETION_FLAGS flags)
{
    struct core_dto dto = {.op = CORE_WRITE,
                           .cookie = cookie,
                           .flags = flags,
                           .nseg = (uint32_t)nseg,
                           .seg = seg};
    return core_post_remote(ep, &dto, remote, DAT_MEM_PRIV_LOCAL_READ_FLAG);
}

DAT_RETURN core_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT nseg,
                               DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie,
                               const DAT_RMR_TRIPLET *remote,
                               DAT_COMPLETION_FLAGS flags)
{
    struct core_dto dto = {.op = CORE_READ,
                           .cookie = cookie,
                           .flags = flags,
                           .nseg = (uint32_t)nseg,
                           .seg = seg};
    return core_post_remote(ep, &dto, remote, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
}

/* ------------------------------------------------------------- receives --- */

static uint32_t next_place(const struct core_ep *ep, uint32_t place)
{
    return place + 1 == ep->rq_places ? 0 : place + 1;
}

struct core_wqe *core_recv_peek(struct core_ep *ep, struct core_wqe *copy)
{
    if (ep->srq)
        return core_srq_take(ep->srq, copy) ? copy : NULL;
    uint64_t head = atomic_load_explicit(&ep->rq_head, memory_order_relaxed);
    if (head == atomic_load_explicit(&ep->rq_tail, memory_order_acquire))
        return NULL;
    return (void *)(ep->rq + ep->rq_head_place * (size_t)ep->rq_stride);
}

bool core_recv_done(struct core_ep *ep, const struct core_wqe *w,
                    DAT_DTO_COMPLETION_STATUS status, uint64_t length,
                    bool solicited, const uint32_t *immed)
{
    static const struct op_names plain = {DAT_DTO_COMPLETION_EVENT,
                                          DAT_DTO_RECEIVE, 0};
    static const struct op_names with_immed = {(int)DAT_IB_DTO_EVENT,
                                               DAT_IB_DTO_RECV_IMMED,
                                               DAT_IB_RDMA_WRITE_IMMED_DATA};
    bool notify =
        status != DAT_DTO_SUCCESS || solicited ||
        !(ep->attr.recv_completion_flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG);
    if (w->flags & DAT_COMPLETION_UNSIGNALLED_FLAG)
        notify = status != DAT_DTO_SUCCESS;
    DAT_DTO_COOKIE cookie = w->cookie;
    atomic_store_explicit(&ep->received, true, memory_order_relaxed);
    if (ep->srq) {
        core_srq_done(ep->srq);
    } else {
        ep->rq_head_place = next_place(ep, ep->rq_head_place);
        atomic_store_explicit(
            &ep->rq_head,
            atomic_load_explicit(&ep->rq_head, memory_order_relaxed) + 1,
            memory_order_release);
    }
    return dto_event(ep, ep->recv_evd, immed ? &with_immed : &plain, cookie,
                     status, length, immed ? *immed : 0, notify);
}

void core_ep_flush(struct core_ep *ep)
{
    core_ep_lock(ep);
    uint64_t head = atomic_load(&ep->sq_head);
    for (; head != atomic_load(&ep->sq_tail); head++) {
        struct core_request *r = core_request_at(ep, head);
        if (!r->done) {
            r->done = true;
            r->status = DAT_DTO_ERR_FLUSHED;
        }
    }
    core_requests_retire(ep);
    while (!ep->srq) {
        struct core_wqe *w = core_recv_peek(ep, NULL);
        if (!w)
            break;
        core_recv_done(ep, w, DAT_DTO_ERR_FLUSHED, 0, true, NULL);
    }
    core_ep_unlock(ep);
}

DAT_RETURN core_post_recv(DAT_EP_HANDLE handle, DAT_COUNT nseg,
                          DAT_LMR_TRIPLET *seg, DAT_DTO_COOKIE cookie,
                          DAT_COMPLETION_FLAGS flags)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (flags &
        ~(DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (ep->srq || !ep->pz || !ep->recv_evd)
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_RECV);
    uint64_t total;
    DAT_RETURN bad =
        core_check_iov(ep->o.ia, ep->pz, nseg, ep->attr.max_recv_iov, seg,
                       DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &total);
    if (bad != DAT_SUCCESS)
        return bad;
    uint64_t tail = atomic_load_explicit(&ep->rq_tail, memory_order_relaxed);
    if (tail - atomic_load_explicit(&ep->rq_head, memory_order_acquire) >=
        (uint64_t)ep->attr.max_recv_dtos)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, 0);

    struct core_wqe *w =
        (void *)(ep->rq + ep->rq_tail_place * (size_t)ep->rq_stride);
    w->cookie = cookie;
    w->flags = flags;
    w->nseg = (uint32_t)nseg;
    w->total = total;
    if (nseg) /* else there may be no list */
        memcpy(w->seg, seg, (size_t)nseg * sizeof *seg);
    const struct core_transport *t = ep->o.ia->transport;
    if (!t->recv_post)
        core_recv_add(ep);
    else if ((bad = t->recv_post(ep, w)) != DAT_SUCCESS)
        return bad;
    ep->rq_tail_place = next_place(ep, ep->rq_tail_place);
    DAT_EP_STATE state = (DAT_EP_STATE)atomic_load(&ep->state);
    if (state == DAT_EP_STATE_CONNECTED && t->recv_posted)
        t->recv_posted(ep);
    else if (state == DAT_EP_STATE_DISCONNECTED)
        core_ep_flush(ep);
    return DAT_SUCCESS;
}

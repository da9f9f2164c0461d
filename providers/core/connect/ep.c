/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: creation, attributes, reset and destruction. */
#include <stdlib.h>
#include <string.h>

#include "providers/core/internal.h"

/* ------------------------------------------------------------- creation --- */

static DAT_EP_ATTR default_attr(const struct core_ability *can)
{
    return (DAT_EP_ATTR){
        .service_type = DAT_SERVICE_TYPE_RC,
        .qos = DAT_QOS_BEST_EFFORT,
        .max_recv_dtos = (DAT_COUNT)can->default_dtos,
        .max_request_dtos = (DAT_COUNT)can->default_dtos,
        .max_rdma_read_in = (DAT_COUNT)can->max_rdma_reads,
        .max_rdma_read_out = (DAT_COUNT)can->max_rdma_reads,
    };
}

static bool within(DAT_COUNT n, unsigned max)
{
    return n >= 0 && (unsigned)n <= max;
}

static bool attr_ok(const struct core_ability *can, const DAT_EP_ATTR *a)
{
    return a->service_type == DAT_SERVICE_TYPE_RC &&
           within(a->max_recv_dtos, can->max_dtos) &&
           within(a->max_request_dtos, can->max_dtos) &&
           within(a->max_recv_iov, can->max_iov) &&
           within(a->max_request_iov, can->max_iov) &&
           within(a->max_rdma_read_iov, can->max_rdma_iov) &&
           within(a->max_rdma_write_iov, can->max_rdma_iov) &&
           within(a->max_rdma_read_in, can->max_rdma_reads) &&
           within(a->max_rdma_read_out, can->max_rdma_reads) &&
           (a->qos & ~(DAT_QOS_HIGH_THROUGHPUT | DAT_QOS_LOW_LATENCY |
                       DAT_QOS_ECONOMY | DAT_QOS_PREMIUM)) == 0 &&
           (a->recv_completion_flags & ~(DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                                         DAT_COMPLETION_UNSIGNALLED_FLAG |
                                         DAT_COMPLETION_EVD_THRESHOLD_FLAG)) ==
               0;
}

/* Fills in an attribute: 0 stands for the IA's maximum where a maximum of 0
 * would be useless, and a larger value becomes that maximum. Lengths do not
 * limit an EP (dto.c). */
static void attr_complete(const struct core_ability *can, DAT_EP_ATTR *a)
{
    if (!a->max_message_size || a->max_message_size > can->max_message_size)
        a->max_message_size = can->max_message_size;
    if (!a->max_rdma_size || a->max_rdma_size > can->max_rdma_size)
        a->max_rdma_size = can->max_rdma_size;
    if (!a->max_recv_iov)
        a->max_recv_iov = (DAT_COUNT)can->max_iov;
    if (!a->max_request_iov)
        a->max_request_iov = (DAT_COUNT)can->max_iov;
    if (!a->max_rdma_read_iov)
        a->max_rdma_read_iov = (DAT_COUNT)can->max_rdma_iov;
    if (!a->max_rdma_write_iov)
        a->max_rdma_write_iov = (DAT_COUNT)can->max_rdma_iov;
}

#define FIRST_REQUESTS 1u /* a power of 2; grows as needed */

static uint32_t mask_for(DAT_COUNT n)
{
    uint32_t cap = 1;
    while (cap < (uint32_t)n)
        cap *= 2;
    return cap - 1;
}

struct queues {
    unsigned char *rq, *sq;
    uint32_t rq_places, sq_mask;
    uint32_t rq_stride, sq_stride, sq_tp;
};

static uint32_t wqe_bytes(DAT_COUNT iov)
{
    return (uint32_t)(offsetof(struct core_wqe, seg) +
                      (size_t)iov * sizeof(DAT_LMR_TRIPLET) + 7) &
           ~7u;
}

static DAT_COUNT request_iov(const DAT_EP_ATTR *attr)
{
    DAT_COUNT most = attr->max_request_iov;
    most = attr->max_rdma_read_iov > most ? attr->max_rdma_read_iov : most;
    return attr->max_rdma_write_iov > most ? attr->max_rdma_write_iov : most;
}

/* Their memory is touched when something is posted. Most EPs never use the
 * whole depth. */
static int queues_new(const struct core_transport *transport,
                      const DAT_EP_ATTR *attr, struct queues *q)
{
    q->rq_places = attr->max_recv_dtos ? (uint32_t)attr->max_recv_dtos : 1;
    q->sq_mask = mask_for(attr->max_request_dtos);
    if (transport->requests_move && q->sq_mask >= FIRST_REQUESTS)
        q->sq_mask = FIRST_REQUESTS - 1;
    q->rq_stride = wqe_bytes(attr->max_recv_iov);
    q->sq_tp = (uint32_t)offsetof(struct core_request, w) +
               wqe_bytes(request_iov(attr));
    q->sq_stride = q->sq_tp + (uint32_t)((transport->request_size + 7) & ~7ul);
    q->rq = malloc(q->rq_places * (size_t)q->rq_stride);
    q->sq = malloc((q->sq_mask + 1) * (size_t)q->sq_stride);
    if (q->rq && q->sq)
        return 0;
    free(q->rq);
    free(q->sq);
    return -1;
}

/* The EP must be idle. */
static void queues_set(struct core_ep *ep, const struct queues *q)
{
    free(ep->rq);
    free(ep->sq);
    ep->rq = q->rq;
    ep->rq_places = q->rq_places;
    ep->rq_head_place = ep->rq_tail_place =
        (uint32_t)(atomic_load(&ep->rq_tail) % q->rq_places);
    ep->rq_stride = q->rq_stride;
    ep->sq = q->sq;
    ep->sq_mask = q->sq_mask;
    ep->sq_stride = q->sq_stride;
    ep->sq_tp = q->sq_tp;
}

static bool evd_ok(DAT_EVD_HANDLE handle, struct core_ia *ia, int flag)
{
    if (handle == DAT_HANDLE_NULL)
        return true;
    struct core_evd *evd = core_evd_get(handle);
    return evd && evd->o.ia == ia && (evd->flags & flag);
}

/* Takes (core_ref) or drops (core_unref) references to what the EP uses. */
static void ep_refs(struct core_ep *ep, void (*change)(struct core_object *))
{
    if (ep->pz)
        change(&ep->pz->o);
    if (ep->recv_evd)
        change(&ep->recv_evd->o);
    if (ep->request_evd)
        change(&ep->request_evd->o);
    if (ep->connect_evd)
        change(&ep->connect_evd->o);
    if (ep->srq)
        change(&ep->srq->o);
}

static void ep_destroy(void *object)
{
    struct core_ep *ep = object;
    core_ep_unpoll(ep);
    ep->o.ia->transport->ep_release(ep);
    ep_refs(ep, core_unref);
    free(ep->rq);
    free(ep->sq);
    core_object_free(ep);
}

static void ep_forked(void *object)
{
    struct core_ep *ep = object;
    core_ep_unlock(ep); /* the thread that held it does not exist here */
    if (!ep->tp)
        return;
    core_ep_unpoll(ep);
    atomic_store(&ep->state, DAT_EP_STATE_DISCONNECTED);
    core_ep_flush(ep);
}

static const struct core_kind ep_kind = {.type = DAT_HANDLE_TYPE_EP,
                                         .cleared =
                                             offsetof(struct core_ep, tp),
                                         .destroy = ep_destroy,
                                         .forked = ep_forked};

static DAT_RETURN ep_new(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                         DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                         DAT_EVD_HANDLE connect, struct core_srq *srq,
                         const DAT_EP_ATTR *attr, DAT_EP_HANDLE *out)
{
    struct core_ia *ia = core_ia_get(ia_handle);
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    struct core_pz *pz = core_pz_get(pz_handle);
    if (pz_handle != DAT_HANDLE_NULL && (!pz || pz->o.ia != ia))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (!evd_ok(recv, ia, DAT_EVD_DTO_FLAG))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV);
    if (!evd_ok(request, ia, DAT_EVD_DTO_FLAG))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST);
    if (!evd_ok(connect, ia, DAT_EVD_CONNECTION_FLAG))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN);
    if (attr && !attr_ok(&ia->can, attr))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);

    DAT_RETURN ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    core_ia_lock(ia);
    struct core_ep *ep = NULL;
    if (ia->count[DAT_HANDLE_TYPE_EP] < ia->can.max_eps)
        ep = core_object_new(ia, &ep_kind, sizeof *ep + ia->transport->ep_size);
    if (!ep)
        goto out;
    ep->attr = attr ? *attr : default_attr(&ia->can);
    attr_complete(&ia->can, &ep->attr);
    if (srq)
        ep->attr.max_recv_dtos = 0;
    struct queues q;
    if (queues_new(ia->transport, &ep->attr, &q)) {
        core_object_free(ep);
        goto out;
    }
    ep->pz = pz;
    ep->recv_evd = core_evd_get(recv);
    ep->request_evd = core_evd_get(request);
    ep->connect_evd = core_evd_get(connect);
    ep->srq = srq;
    ep_refs(ep, core_ref);
    ep->remote_qual = 0;
    ep->reserved = false;
    atomic_store(&ep->rq_head, 0);
    atomic_store(&ep->rq_tail, 0);
    atomic_store(&ep->sq_head, 0);
    atomic_store(&ep->sq_tail, 0);
    queues_set(ep, &q);
    core_ep_set_idle(ep);
    *out = ep;
    ret = DAT_SUCCESS;
out:
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                          DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                          DAT_EVD_HANDLE connect, const DAT_EP_ATTR *attr,
                          DAT_EP_HANDLE *out)
{
    return ep_new(ia, pz, recv, request, connect, NULL, attr, out);
}

DAT_RETURN core_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                                   DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                                   DAT_EVD_HANDLE connect,
                                   DAT_SRQ_HANDLE srq_handle,
                                   const DAT_EP_ATTR *attr, DAT_EP_HANDLE *out)
{
    struct core_srq *srq = core_object_get(srq_handle, DAT_HANDLE_TYPE_SRQ);
    if (!srq || srq->o.ia != core_ia_get(ia))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ);
    if (srq->pz != core_pz_get(pz)) /* srq_ep_pz_difference_supported */
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    return ep_new(ia, pz, recv, request, connect, srq, attr, out);
}

/* ----------------------------------------------------------- attributes --- */

#define EP_FIELDS_PROVIDER                                                     \
    (DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR |                                  \
     DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR)

static void ask_transport(struct core_ep *ep, DAT_EP_ATTR *attr)
{
    struct core_ia *ia = ep->o.ia;
    attr->ep_provider_specific_count = 0;
    attr->ep_provider_specific = NULL;
    if (!ia->transport->ep_attributes_asked)
        return;
    core_ia_lock(ia);
    ia->transport->ep_attributes_asked(ep, attr);
    core_ia_unlock(ia);
}

DAT_RETURN core_ep_query(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask,
                         DAT_EP_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_EP,
                                      mask & ~DAT_EP_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_ep *ep = handle;
    memset(param, 0, sizeof *param);
    param->ia_handle = ep->o.ia;
    param->ep_state = core_ep_state(ep);
    param->local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->o.ia->address;
    param->remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ep->remote;
    param->remote_port_qual = ep->remote_qual;
    param->pz_handle = ep->pz;
    param->recv_evd_handle = ep->recv_evd;
    param->request_evd_handle = ep->request_evd;
    param->connect_evd_handle = ep->connect_evd;
    param->srq_handle = ep->srq;
    param->ep_attr = ep->attr;
    if (mask & EP_FIELDS_PROVIDER)
        ask_transport(ep, &param->ep_attr);
    return DAT_SUCCESS;
}

#define EP_FIELDS_EVDS                                                         \
    (DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |          \
     DAT_EP_FIELD_CONNECT_EVD_HANDLE)
#define EP_FIELDS_QUEUES                                                       \
    (DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |                                      \
     DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |                                   \
     DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV |                                       \
     DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV |                                    \
     DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV |                                  \
     DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV)
#define EP_FIELDS_FIXED                                                        \
    (DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_COMM |      \
     DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR | DAT_EP_FIELD_LOCAL_PORT_QUAL |        \
     DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR | DAT_EP_FIELD_REMOTE_PORT_QUAL |      \
     DAT_EP_FIELD_SRQ_HANDLE)

static void attr_merge(const struct core_ability *can, DAT_EP_ATTR *a,
                       DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR *b)
{
    if (mask & DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE)
        a->service_type = b->service_type;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE)
        a->max_message_size = b->max_message_size;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE)
        a->max_rdma_size = b->max_rdma_size;
    if (mask & DAT_EP_FIELD_EP_ATTR_QOS)
        a->qos = b->qos;
    if (mask & DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS)
        a->recv_completion_flags = b->recv_completion_flags;
    if (mask & DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS)
        a->request_completion_flags = b->request_completion_flags;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS)
        a->max_recv_dtos = b->max_recv_dtos;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS)
        a->max_request_dtos = b->max_request_dtos;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV)
        a->max_recv_iov = b->max_recv_iov;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV)
        a->max_request_iov = b->max_request_iov;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN)
        a->max_rdma_read_in = b->max_rdma_read_in;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT)
        a->max_rdma_read_out = b->max_rdma_read_out;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV)
        a->max_rdma_read_iov = b->max_rdma_read_iov;
    if (mask & DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV)
        a->max_rdma_write_iov = b->max_rdma_write_iov;
    attr_complete(can, a);
}

DAT_RETURN core_ep_modify(DAT_EP_HANDLE handle, DAT_EP_PARAM_MASK mask,
                          const DAT_EP_PARAM *param)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (mask & (~DAT_EP_FIELD_ALL | EP_FIELDS_FIXED))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!param)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    struct core_ia *ia = ep->o.ia;
    /* members outside the mask need not be valid */
    struct core_pz *pz =
        mask & DAT_EP_FIELD_PZ_HANDLE ? core_pz_get(param->pz_handle) : ep->pz;
    if ((mask & DAT_EP_FIELD_PZ_HANDLE) && (!pz || pz->o.ia != ia))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (ep->srq && pz != ep->srq->pz) /* srq_ep_pz_difference_supported */
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if ((mask & DAT_EP_FIELD_RECV_EVD_HANDLE) &&
        !evd_ok(param->recv_evd_handle, ia, DAT_EVD_DTO_FLAG))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV);
    if ((mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE) &&
        !evd_ok(param->request_evd_handle, ia, DAT_EVD_DTO_FLAG))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST);
    if ((mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE) &&
        !evd_ok(param->connect_evd_handle, ia, DAT_EVD_CONNECTION_FLAG))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN);
    DAT_EP_ATTR attr = ep->attr;
    attr_merge(&ia->can, &attr, mask, &param->ep_attr);
    if (!attr_ok(&ia->can, &attr))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);

    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    DAT_EP_STATE state = core_ep_state(ep);
    bool posted = atomic_load(&ep->rq_head) != atomic_load(&ep->rq_tail);
    if (state > DAT_EP_STATE_UNCONFIGURED_RESERVED ||
        (posted && (mask & (EP_FIELDS_QUEUES | EP_FIELDS_EVDS |
                            DAT_EP_FIELD_PZ_HANDLE)))) {
        ret = core_ep_bad_state(state);
        goto out;
    }
    struct queues q;
    if ((mask & EP_FIELDS_QUEUES) && queues_new(ia->transport, &attr, &q)) {
        ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
        goto out;
    }
    if (mask & EP_FIELDS_QUEUES)
        queues_set(ep, &q);
    ep_refs(ep, core_unref);
    ep->attr = attr;
    if (mask & DAT_EP_FIELD_PZ_HANDLE)
        ep->pz = pz;
    if (mask & DAT_EP_FIELD_RECV_EVD_HANDLE)
        ep->recv_evd = core_evd_get(param->recv_evd_handle);
    if (mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE)
        ep->request_evd = core_evd_get(param->request_evd_handle);
    if (mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE)
        ep->connect_evd = core_evd_get(param->connect_evd_handle);
    ep_refs(ep, core_ref);
    core_ep_set_idle(ep);
out:
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_ep_get_status(DAT_EP_HANDLE handle, DAT_EP_STATE *state,
                              DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (state)
        *state = core_ep_state(ep);
    if (recv_idle)
        *recv_idle = (DAT_BOOLEAN)(atomic_load(&ep->rq_head) ==
                                   atomic_load(&ep->rq_tail));
    if (request_idle)
        *request_idle = (DAT_BOOLEAN)!core_requests_pending(ep);
    return DAT_SUCCESS;
}

DAT_RETURN core_ep_recv_query(DAT_EP_HANDLE handle, DAT_COUNT *allocated,
                              DAT_COUNT *span)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    DAT_COUNT posted =
        (DAT_COUNT)(atomic_load(&ep->rq_tail) - atomic_load(&ep->rq_head));
    if (allocated)
        *allocated = posted;
    if (span)
        *span = posted;
    return DAT_SUCCESS;
}

DAT_RETURN core_ep_set_watermark(DAT_EP_HANDLE handle, DAT_COUNT soft,
                                 DAT_COUNT hard)
{
    (void)soft, (void)hard;
    if (!core_ep_get(handle))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
}

/* ----------------------------------------------- destruction and reset --- */

DAT_RETURN core_ep_free(DAT_EP_HANDLE handle)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    struct core_ia *ia = ep->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    if (ep->reserved) /* else an RSP would lose its EP */
        ret = core_ep_bad_state(core_ep_state(ep));
    else
        ep_destroy(ep);
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_ep_reset(DAT_EP_HANDLE handle)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    struct core_ia *ia = ep->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    DAT_EP_STATE state = core_ep_state(ep);
    if (state == DAT_EP_STATE_DISCONNECTED) {
        ia->transport->ep_release(ep);
        ep->sq_failed = false;
        core_ep_set_idle(ep);
    } else if (state > DAT_EP_STATE_UNCONFIGURED_RESERVED) {
        ret = core_ep_bad_state(state);
    }
    core_ia_unlock(ia);
    return ret;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Service points, connection requests, and the connection state machine of an
 * EP. All of it under ia->lock; the transport's own thread reports here.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define ANY_FIRST                                                              \
    0x8000u /* dat_psp_create_any: from here on; all are ports                 \
             */
#define ANY_COUNT 0x8000u

/* ------------------------------------------------------- service points --- */

/* What the creation of each begins with. */
static DAT_RETURN sp_check(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE evd_handle)
{
    struct core_ia *ia = core_ia_get(ia_handle);
    struct core_evd *evd = core_evd_get(evd_handle);
    if (!ia)
        return core_bad_handle(DAT_HANDLE_TYPE_IA);
    if (!evd || evd->o.ia != ia || !(evd->flags & DAT_EVD_CR_FLAG))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
    return DAT_SUCCESS;
}

static void unreserve(struct core_ep *ep) /* its RSP or CR is gone */
{
    ep->reserved = false;
    core_ep_set_idle(ep);
}

static void sp_destroy(void *object)
{
    struct core_sp *sp = object;
    sp->o.ia->transport->unlisten(sp);
    core_unref(&sp->evd->o);
    if (sp->ep)
        unreserve(sp->ep);
    core_object_free(sp);
}

static const struct core_kind psp_kind = {.type = DAT_HANDLE_TYPE_PSP,
                                          .destroy = sp_destroy};
static const struct core_kind rsp_kind = {.type = DAT_HANDLE_TYPE_RSP,
                                          .destroy = sp_destroy};

/* ia->lock is held. */
static DAT_RETURN sp_new(struct core_ia *ia, const struct core_kind *kind,
                         DAT_CONN_QUAL qual, struct core_evd *evd,
                         struct core_ep *ep, struct core_sp **out)
{
    unsigned used =
        ia->count[DAT_HANDLE_TYPE_PSP] + ia->count[DAT_HANDLE_TYPE_RSP];
    struct core_sp *sp = NULL;
    if (ia->forked)
        return CORE_FORKED;
    if (used < ia->can.max_eps)
        sp = core_object_new(ia, kind, sizeof *sp);
    if (!sp)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    sp->qual = qual;
    sp->evd = evd;
    sp->ep = ep;
    DAT_RETURN ret = ia->transport->listen(sp);
    if (ret != DAT_SUCCESS) {
        core_object_free(sp);
        return ret;
    }
    core_ref(&evd->o);
    *out = sp;
    return DAT_SUCCESS;
}

DAT_RETURN core_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL qual,
                           DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                           DAT_PSP_HANDLE *out)
{
    DAT_RETURN ret = sp_check(ia_handle, evd);
    if (ret != DAT_SUCCESS)
        return ret;
    struct core_ia *ia = ia_handle;
    if (flags == DAT_PSP_PROVIDER_FLAG) /* attribute ep_creator: never */
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    if (flags != DAT_PSP_CONSUMER_FLAG)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    struct core_sp *sp = NULL;
    core_ia_lock(ia);
    ret = sp_new(ia, &psp_kind, qual, evd, NULL, &sp);
    core_ia_unlock(ia);
    if (ret == DAT_SUCCESS)
        *out = sp;
    return ret;
}

DAT_RETURN core_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual,
                               DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                               DAT_PSP_HANDLE *out)
{
    static atomic_uint next;
    if (!qual)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    unsigned first = atomic_fetch_add(&next, 1);
    for (unsigned i = 0; i < ANY_COUNT; i++) {
        DAT_CONN_QUAL q = ANY_FIRST + (first + i) % ANY_COUNT;
        DAT_RETURN ret = core_psp_create(ia, q, evd, flags, out);
        if (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE)
            continue;
        if (ret == DAT_SUCCESS)
            *qual = q;
        return ret;
    }
    return CORE_ERROR(DAT_CONN_QUAL_UNAVAILABLE, 0);
}

DAT_RETURN core_psp_query(DAT_PSP_HANDLE handle, DAT_PSP_PARAM_MASK mask,
                          DAT_PSP_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_PSP,
                                      mask & ~DAT_PSP_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_sp *sp = handle;
    param->ia_handle = sp->o.ia;
    param->conn_qual = sp->qual;
    param->evd_handle = sp->evd;
    param->psp_flags = DAT_PSP_CONSUMER_FLAG;
    return DAT_SUCCESS;
}

static DAT_RETURN sp_free(DAT_HANDLE handle, DAT_HANDLE_TYPE type)
{
    struct core_sp *sp = core_object_get(handle, type);
    if (!sp)
        return core_bad_handle(type);
    struct core_ia *ia = sp->o.ia;
    core_ia_lock(ia);
    sp_destroy(sp);
    core_ia_unlock(ia);
    return DAT_SUCCESS;
}

DAT_RETURN core_psp_free(DAT_PSP_HANDLE psp)
{
    return sp_free(psp, DAT_HANDLE_TYPE_PSP);
}

DAT_RETURN core_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL qual,
                           DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd,
                           DAT_RSP_HANDLE *out)
{
    DAT_RETURN ret = sp_check(ia_handle, evd);
    if (ret != DAT_SUCCESS)
        return ret;
    struct core_ia *ia = ia_handle;
    struct core_ep *ep = core_ep_get(ep_handle);
    if (!ep || ep->o.ia != ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    struct core_sp *sp = NULL;
    core_ia_lock(ia);
    if (core_ep_state(ep) != DAT_EP_STATE_UNCONNECTED)
        ret = core_ep_bad_state(core_ep_state(ep));
    else
        ret = sp_new(ia, &rsp_kind, qual, evd, ep, &sp);
    if (ret == DAT_SUCCESS) {
        ep->reserved = true;
        core_ep_set_idle(ep);
        *out = sp;
    }
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_rsp_query(DAT_RSP_HANDLE handle, DAT_RSP_PARAM_MASK mask,
                          DAT_RSP_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_RSP,
                                      mask & ~DAT_RSP_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_sp *sp = handle;
    param->ia_handle = sp->o.ia;
    param->conn_qual = sp->qual;
    param->evd_handle = sp->evd;
    param->ep_handle = sp->ep;
    return DAT_SUCCESS;
}

DAT_RETURN core_rsp_free(DAT_RSP_HANDLE rsp)
{
    return sp_free(rsp, DAT_HANDLE_TYPE_RSP);
}

/* -------------------------------------------------- connection requests --- */

static void cr_destroy(void *object)
{
    struct core_cr *cr = object;
    cr->o.ia->transport->reject(cr, 0, NULL);
    if (cr->ep)
        unreserve(cr->ep);
    core_object_free(cr);
}

static const struct core_kind cr_kind = {.type = DAT_HANDLE_TYPE_CR,
                                         .destroy = cr_destroy};

int core_cr_arrived(struct core_sp *sp, void *cr_tp,
                    const struct sockaddr_storage *remote, DAT_PORT_QUAL port,
                    const void *private_data, DAT_COUNT size)
{
    struct core_ia *ia = sp->o.ia;
    struct core_cr *cr = core_object_new(ia, &cr_kind, sizeof *cr);
    if (!cr)
        return -1;
    cr->tp = cr_tp;
    cr->remote = *remote;
    cr->remote_port = port;
    cr->private_size = size;
    memcpy(cr->private_data, private_data, (size_t)size);

    DAT_EVENT e = {.event_number = DAT_CONNECTION_REQUEST_EVENT};
    DAT_CR_ARRIVAL_EVENT_DATA *d = &e.event_data.cr_arrival_event_data;
    d->local_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address;
    d->conn_qual = sp->qual;
    d->cr_handle = cr;
    if (sp->ep) { /* an RSP serves once: it goes, its EP stays reserved */
        struct core_ep *ep = sp->ep;
        cr->ep = ep;
        sp->ep = NULL;
        struct core_evd *evd = sp->evd;
        sp_destroy(sp);
        atomic_store(&ep->state, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
        d->sp_handle.rsp_handle = DAT_HANDLE_NULL;
        if (core_evd_post(evd, &e, true) == 0)
            return 0;
        unreserve(ep);
    } else {
        d->sp_handle.psp_handle = sp;
        if (core_evd_post(sp->evd, &e, true) == 0)
            return 0;
    }
    core_object_free(cr);
    return -1;
}

static struct core_cr *cr_get(DAT_CR_HANDLE handle)
{
    return core_object_get(handle, DAT_HANDLE_TYPE_CR);
}

DAT_RETURN core_cr_query(DAT_CR_HANDLE handle, DAT_CR_PARAM_MASK mask,
                         DAT_CR_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_CR,
                                      mask & ~DAT_CR_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_cr *cr = handle;
    param->remote_ia_address_ptr = (DAT_IA_ADDRESS_PTR)&cr->remote;
    param->remote_port_qual = cr->remote_port;
    param->private_data_size = cr->private_size;
    param->private_data = cr->private_data;
    param->local_ep_handle = cr->ep;
    return DAT_SUCCESS;
}

static bool private_data_ok(const struct core_ia *ia, DAT_COUNT size,
                            const void *data)
{
    return size >= 0 && (unsigned)size <= ia->can.max_private_data &&
           (!size || data);
}

DAT_RETURN core_cr_accept(DAT_CR_HANDLE handle, DAT_EP_HANDLE ep_handle,
                          DAT_COUNT size, const DAT_PVOID private_data)
{
    struct core_cr *cr = cr_get(handle);
    if (!cr)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
    struct core_ep *ep = cr->ep ? cr->ep : core_ep_get(ep_handle);
    if (!ep || ep->o.ia != cr->o.ia ||
        (cr->ep && ep_handle != DAT_HANDLE_NULL && ep_handle != cr->ep))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (!private_data_ok(ep->o.ia, size, private_data))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);

    struct core_ia *ia = cr->o.ia;
    DAT_RETURN ret;
    if (ia->forked)
        return CORE_FORKED;
    core_ia_lock(ia);
    DAT_EP_STATE state = core_ep_state(ep);
    if (state != DAT_EP_STATE_UNCONNECTED &&
        !(cr->ep && state == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING)) {
        ret = core_ep_bad_state(state);
        goto out;
    }
    atomic_store(&ep->state, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
    ep->reserved = false;
    memcpy(&ep->remote, &cr->remote, sizeof ep->remote);
    ep->remote_qual = cr->remote_port;
    ret = ia->transport->accept(cr, ep, size, private_data);
    if (ret != DAT_SUCCESS)
        core_ep_set_idle(ep);
    else
        core_object_free(cr);
out:
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_cr_reject(DAT_CR_HANDLE handle, DAT_COUNT size,
                          const DAT_PVOID private_data)
{
    struct core_cr *cr = cr_get(handle);
    if (!cr)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
    if (!private_data_ok(cr->o.ia, size, private_data))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    struct core_ia *ia = cr->o.ia;
    core_ia_lock(ia);
    ia->transport->reject(cr, size, private_data);
    if (cr->ep)
        unreserve(cr->ep);
    core_object_free(cr);
    core_ia_unlock(ia);
    return DAT_SUCCESS;
}

DAT_RETURN core_cr_handoff(DAT_CR_HANDLE handle, DAT_CONN_QUAL to)
{
    (void)to;
    if (!cr_get(handle))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR);
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

/* --------------------------------------------------------- connections --- */

DAT_RETURN core_ep_connect(DAT_EP_HANDLE handle, DAT_IA_ADDRESS_PTR address,
                           DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
                           DAT_COUNT size, const DAT_PVOID private_data,
                           DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (!address)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
        return CORE_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
    if (!timeout)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!private_data_ok(ep->o.ia, size, private_data))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (qos & ~(DAT_QOS_HIGH_THROUGHPUT | DAT_QOS_LOW_LATENCY |
                DAT_QOS_ECONOMY | DAT_QOS_PREMIUM))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
    if (flags & DAT_CONNECT_MULTIPATH_REQUIRED_FLAG)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);

    struct core_ia *ia = ep->o.ia;
    DAT_RETURN ret;
    if (ia->forked)
        return CORE_FORKED;
    core_ia_lock(ia);
    DAT_EP_STATE state = core_ep_state(ep);
    if (state != DAT_EP_STATE_UNCONNECTED) {
        ret = core_ep_bad_state(state);
        goto out;
    }
    memset(&ep->remote, 0, sizeof ep->remote);
    memcpy(&ep->remote, address,
           address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                         : sizeof(struct sockaddr_in6));
    ep->remote_qual = qual;
    atomic_store(&ep->state, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    ret = ia->transport->connect(
        ep, timeout == DAT_TIMEOUT_INFINITE ? UINT64_MAX : timeout, size,
        private_data);
    if (ret != DAT_SUCCESS)
        core_ep_set_idle(ep);
out:
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_ep_dup_connect(DAT_EP_HANDLE handle, DAT_EP_HANDLE like_handle,
                               DAT_TIMEOUT timeout, DAT_COUNT size,
                               const DAT_PVOID private_data, DAT_QOS qos)
{
    struct core_ep *like = core_ep_get(like_handle);
    if (!like)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (core_ep_state(like) != DAT_EP_STATE_CONNECTED)
        return core_ep_bad_state(core_ep_state(like));
    return core_ep_connect(handle, (DAT_IA_ADDRESS_PTR)&like->remote,
                           like->remote_qual, timeout, size, private_data, qos,
                           DAT_CONNECT_DEFAULT_FLAG);
}

DAT_RETURN core_ep_disconnect(DAT_EP_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    struct core_ia *ia = ep->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    DAT_EP_STATE state = core_ep_state(ep);
    switch (state) {
    case DAT_EP_STATE_DISCONNECTED:
        break; /* nothing left to do */
    case DAT_EP_STATE_CONNECTED:
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_DISCONNECT_PENDING:
        if (!ep->tp) { /* a CR of an RSP waits to be accepted */
            ret = core_ep_bad_state(state);
            break;
        }
        ia->transport->disconnect(ep, flags == DAT_CLOSE_GRACEFUL_FLAG);
        break;
    default:
        ret = core_ep_bad_state(state);
    }
    core_ia_unlock(ia);
    return ret;
}

/* ------------------------------------------------ the transport reports --- */

/* Mostly there is little of it. Neither place moves: events that have not been
 * taken may point there. NULL: out of memory. */
static void *private_data_keep(struct core_ep *ep, const void *data,
                               uint32_t size)
{
    void *place = ep->private_little;
    if (size > sizeof ep->private_little) {
        if (!ep->private_data)
            ep->private_data = malloc(CORE_MAX_PRIVATE_DATA);
        place = ep->private_data;
    }
    return place ? memcpy(place, data, size) : NULL;
}

static void connection_event(struct core_ep *ep, DAT_EVENT_NUMBER number,
                             const void *private_data, DAT_COUNT size)
{
    DAT_EVENT e = {.event_number = number};
    void *kept =
        size ? private_data_keep(ep, private_data, (uint32_t)size) : NULL;
    e.event_data.connect_event_data.ep_handle = ep;
    e.event_data.connect_event_data.private_data_size = kept ? size : 0;
    e.event_data.connect_event_data.private_data = kept;
    core_evd_post(ep->connect_evd, &e, true);
}

void core_ep_established(struct core_ep *ep, const void *private_data,
                         DAT_COUNT size)
{
    /* Receives posted before are seen by the peer from now on. */
    atomic_store(&ep->state, DAT_EP_STATE_CONNECTED);
    connection_event(ep, DAT_CONNECTION_EVENT_ESTABLISHED, private_data, size);
    core_ep_ring(ep); /* a message may have come before that */
}

void core_ep_disconnected(struct core_ep *ep, DAT_EVENT_NUMBER event,
                          const void *private_data, DAT_COUNT size)
{
    core_ep_unpoll(ep);
    atomic_store(&ep->state, DAT_EP_STATE_DISCONNECTED);
    core_ep_flush(ep);
    connection_event(ep, event, private_data, size);
}

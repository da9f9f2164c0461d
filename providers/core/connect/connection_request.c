/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection requests that have arrived at a service point. */
#include <string.h>

#include "providers/core/internal.h"

static void cr_destroy(void *object)
{
    struct core_cr *cr = object;
    cr->o.ia->transport->reject(cr, 0, NULL);
    if (cr->ep)
        core_ep_unreserve(cr->ep);
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
    d->sp_handle.psp_handle = sp; /* of either kind */
    if (sp->ep) {
        cr->ep = core_rsp_served(sp);
        atomic_store(&cr->ep->state, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
    }
    if (core_evd_post(sp->evd, &e, true) == 0)
        return 0;
    if (cr->ep)
        core_ep_unreserve(cr->ep);
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
    if (!core_private_data_ok(ep->o.ia, size, private_data))
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
    const struct sockaddr_in6 remote = ep->remote;
    const DAT_CONN_QUAL remote_qual = ep->remote_qual;
    atomic_store(&ep->state, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
    ep->reserved = false;
    memcpy(&ep->remote, &cr->remote, sizeof ep->remote);
    ep->remote_qual = cr->remote_port;
    ret = ia->transport->accept(cr, ep, size, private_data);
    if (ret == DAT_SUCCESS) {
        core_object_free(cr);
    } else {
        ep->remote = remote;
        ep->remote_qual = remote_qual;
        ep->reserved = cr->ep; /* an RSP's EP stays the request's */
        atomic_store(&ep->state, state);
    }
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
    if (!core_private_data_ok(cr->o.ia, size, private_data))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    struct core_ia *ia = cr->o.ia;
    core_ia_lock(ia);
    ia->transport->reject(cr, size, private_data);
    if (cr->ep)
        core_ep_unreserve(cr->ep);
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

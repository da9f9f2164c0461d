/* SPDX-License-Identifier: BSD-3-Clause */
/* Service points: where an IA listens. A PSP serves any number of requests, an
 * RSP one, for the EP that it names. */
#include "providers/core/internal.h"

/* dat_psp_create_any: qualifiers from here on; all are ports */
#define ANY_FIRST 0x8000u
#define ANY_COUNT 0x8000u

/* The first checks of both kinds of creation. */
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

static void sp_destroy(void *object)
{
    struct core_sp *sp = object;
    if (!sp->served)
        sp->o.ia->transport->unlisten(sp);
    core_unref(&sp->evd->o);
    if (sp->ep)
        core_ep_unreserve(sp->ep);
    core_object_free(sp);
}

struct core_ep *core_rsp_served(struct core_sp *sp)
{
    struct core_ep *ep = sp->ep;
    sp->o.ia->transport->unlisten(sp);
    sp->served = true;
    sp->ep = NULL;
    return ep;
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
    if (flags == DAT_PSP_PROVIDER_FLAG) /* attribute ep_creator: the provider
                                           never creates EPs */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Remote Memory Regions: windows into LMRs. */
#include "providers/core/internal.h"

/* Frees the object; its range is gone. */
static void rmr_end(struct core_rmr *rmr)
{
    if (rmr->lmr)
        core_unref(&rmr->lmr->o);
    core_unref(&rmr->pz->o);
    core_object_free(rmr);
}

static void rmr_destroy(void *object)
{
    struct core_rmr *rmr = object;
    struct core_ia *ia = rmr->o.ia;
    if (rmr->mr)
        core_range_free(ia, rmr->mr, &ia->close_patience);
    rmr_end(rmr);
}

static const struct core_kind rmr_kind = {.type = DAT_HANDLE_TYPE_RMR,
                                          .destroy = rmr_destroy};

static DAT_RETURN rmr_new(DAT_PZ_HANDLE pz_handle, DAT_RMR_SCOPE scope,
                          DAT_RMR_HANDLE *out)
{
    struct core_pz *pz = core_pz_get(pz_handle);
    if (!pz)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    struct core_ia *ia = pz->o.ia;
    if (!(scope == DAT_RMR_SCOPE_EP ? ia->can.rmr_of_ep : ia->can.rmr))
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    struct core_rmr *rmr = NULL;
    core_ia_lock(ia);
    if (ia->count[DAT_HANDLE_TYPE_RMR] < CORE_MAX_MRS)
        rmr = core_object_new(ia, &rmr_kind, sizeof *rmr);
    core_ia_unlock(ia);
    if (!rmr)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_MEMORY_REGION);
    rmr->pz = pz;
    rmr->scope = scope;
    core_ref(&pz->o);
    *out = rmr;
    return DAT_SUCCESS;
}

DAT_RETURN core_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *out)
{
    return rmr_new(pz, DAT_RMR_SCOPE_PZ, out);
}

DAT_RETURN core_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *out)
{
    return rmr_new(pz, DAT_RMR_SCOPE_EP, out);
}

DAT_RETURN core_rmr_query(DAT_RMR_HANDLE handle, DAT_RMR_PARAM_MASK mask,
                          DAT_RMR_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_RMR,
                                      mask & ~DAT_RMR_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_rmr *rmr = handle;
    *param = (DAT_RMR_PARAM){
        .ia_handle = rmr->o.ia,
        .pz_handle = rmr->pz,
        .lmr_triplet = rmr->triplet,
        .mem_priv = (DAT_MEM_PRIV_FLAGS)rmr->priv,
        .rmr_context = rmr->mr ? rmr->mr->rmr_context : 0,
        .rmr_scope = rmr->scope,
        .va_type = DAT_VA_TYPE_VA,
    };
    return DAT_SUCCESS;
}

/* Ends the binding. INVALID_STATE: a peer is accessing the window, which is
 * withdrawn already. */
static DAT_RETURN rmr_unbind(struct core_rmr *rmr)
{
    uint64_t patience = CORE_PATIENCE;
    if (!rmr->mr)
        return DAT_SUCCESS;
    if (!core_range_free(rmr->o.ia, rmr->mr, &patience))
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
    core_unref(&rmr->lmr->o);
    rmr->mr = NULL;
    rmr->lmr = NULL;
    return DAT_SUCCESS;
}

/* A new window to a part of an LMR; ia->lock is held. */
static DAT_RETURN window_open(const struct core_rmr *rmr,
                              const DAT_LMR_TRIPLET *t, int priv,
                              struct core_ep *ep, struct core_mr **out)
{
    struct core_ia *ia = rmr->o.ia;
    struct core_mr *mr = *out = core_range_new(ia);
    if (!mr)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_MEMORY_REGION);
    mr->base = t->virtual_address;
    mr->length = t->segment_length;
    mr->priv = priv & CORE_PRIV_REMOTE;
    mr->pz_id = rmr->pz->id;
    mr->ep = rmr->scope == DAT_RMR_SCOPE_EP ? ep : NULL;
    DAT_RETURN ret = ia->transport->mr_publish(ia, mr);
    if (ret != DAT_SUCCESS)
        core_range_give_back(ia, mr);
    return ret;
}

/* Binds to a part of an LMR, which ends the binding before; ia->lock is held.
 */
static DAT_RETURN rmr_bind(struct core_rmr *rmr, struct core_lmr *lmr,
                           const DAT_LMR_TRIPLET *t, int priv,
                           struct core_ep *ep)
{
    struct core_mr *mr;
    uint64_t patience = CORE_PATIENCE;
    DAT_RETURN ret = window_open(rmr, t, priv, ep, &mr);
    if (ret != DAT_SUCCESS)
        return ret;
    core_ref(&lmr->o);
    ret = rmr_unbind(rmr);
    if (ret != DAT_SUCCESS) {
        core_range_free(rmr->o.ia, mr, &patience); /* no peer knows it yet */
        core_unref(&lmr->o);
        return ret;
    }
    rmr->mr = mr;
    rmr->lmr = lmr;
    rmr->triplet = *t;
    rmr->priv = mr->priv;
    return DAT_SUCCESS;
}

static DAT_RETURN rmr_check(struct core_rmr *rmr, struct core_lmr *lmr,
                            const DAT_LMR_TRIPLET *t, int priv)
{
    const struct core_mr *mr = lmr->mr;
    const int writes =
        (int)DAT_MEM_PRIV_REMOTE_WRITE_FLAG | CORE_PRIV_REMOTE_ATOMIC;
    if (lmr->o.ia != rmr->o.ia || lmr->pz != rmr->pz)
        return CORE_ERROR(DAT_PROTECTION_VIOLATION, 0);
    if (t->lmr_context != mr->key ||
        !core_range_within(mr, t->virtual_address, t->segment_length))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    /* a window may not allow more than local access */
    if (((priv & (int)DAT_MEM_PRIV_REMOTE_READ_FLAG) &&
         !(mr->priv & (int)DAT_MEM_PRIV_LOCAL_READ_FLAG)) ||
        ((priv & writes) && !(mr->priv & (int)DAT_MEM_PRIV_LOCAL_WRITE_FLAG)))
        return CORE_ERROR(DAT_PRIVILEGES_VIOLATION, 0);
    return DAT_SUCCESS;
}

DAT_RETURN core_rmr_bind(DAT_RMR_HANDLE handle, DAT_LMR_HANDLE lmr_handle,
                         const DAT_LMR_TRIPLET *triplet,
                         DAT_MEM_PRIV_FLAGS priv, DAT_VA_TYPE va_type,
                         DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                         DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context)
{
    struct core_rmr *rmr = core_object_get(handle, DAT_HANDLE_TYPE_RMR);
    struct core_ep *ep = core_ep_get(ep_handle);
    struct core_lmr *lmr = NULL;
    if (!rmr)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
    if (!triplet)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if ((int)priv & ~CORE_PRIV_ALL)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (va_type != DAT_VA_TYPE_VA)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    if (!ep || ep->o.ia != rmr->o.ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (core_ep_state(ep) != DAT_EP_STATE_CONNECTED)
        return core_ep_bad_state(core_ep_state(ep));
    if (!ep->request_evd)
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_REQUEST);
    if (ep->pz != rmr->pz)
        return CORE_ERROR(DAT_PROTECTION_VIOLATION, 0);
    if (triplet->segment_length) {
        lmr = core_object_get(lmr_handle, DAT_HANDLE_TYPE_LMR);
        if (!lmr)
            return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
        DAT_RETURN bad = rmr_check(rmr, lmr, triplet, (int)priv);
        if (bad != DAT_SUCCESS)
            return bad;
    }

    struct core_ia *ia = rmr->o.ia;
    core_ia_lock(ia);
    DAT_RETURN ret =
        lmr ? rmr_bind(rmr, lmr, triplet, (int)priv, ep) : rmr_unbind(rmr);
    core_ia_unlock(ia);
    if (ret != DAT_SUCCESS)
        return ret;
    if (context)
        *context = rmr->mr ? rmr->mr->rmr_context : 0;

    if (flags & DAT_COMPLETION_SUPPRESS_FLAG)
        return DAT_SUCCESS;
    DAT_EVENT e = {.event_number = DAT_RMR_BIND_COMPLETION_EVENT};
    e.event_data.rmr_completion_event_data.rmr_handle = rmr;
    e.event_data.rmr_completion_event_data.user_cookie = cookie;
    e.event_data.rmr_completion_event_data.status = DAT_DTO_SUCCESS;
    if (core_evd_post(ep->request_evd, &e,
                      !(flags & DAT_COMPLETION_UNSIGNALLED_FLAG)))
        ia->transport->abort(ep);
    return DAT_SUCCESS;
}

DAT_RETURN core_rmr_free(DAT_RMR_HANDLE handle)
{
    struct core_rmr *rmr = core_object_get(handle, DAT_HANDLE_TYPE_RMR);
    if (!rmr)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR);
    struct core_ia *ia = rmr->o.ia;
    core_ia_lock(ia);
    DAT_RETURN ret = rmr_unbind(rmr);
    if (ret == DAT_SUCCESS)
        rmr_end(rmr);
    core_ia_unlock(ia);
    return ret;
}

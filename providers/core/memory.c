/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protection Zones, Local and Remote Memory Regions. Every registered range is
 * one struct core_mr, named by a 32-bit key: the index of its place, and above
 * it a generation that changes with every use of the place, so that a key
 * that was freed is not valid again soon.
 */
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define WITHDRAW_YIELDS  50 /* looks before it sleeps between them */
#define WITHDRAW_POLL_US 100
#define PRIV_ALL         ((int)DAT_MEM_PRIV_ALL_FLAG | CORE_PRIV_REMOTE_ATOMIC)

/* -------------------------------------------------------------- ranges --- */

/* The lowest free place: peers then meet few different ones, and see by the new
 * key that what was there is gone. */
static struct core_mr *mr_new(struct core_ia *ia)
{
    for (unsigned at = ia->mr_hint; at < CORE_MAX_MRS; at++) {
        struct core_mr *mr = &ia->mrs[at];
        if (mr->key)
            continue;
        ia->mr_hint = at + 1;
        mr->generation = mr->generation % (UINT32_MAX / CORE_MAX_MRS) + 1;
        mr->ep = NULL;
        mr->key = mr->generation * CORE_MAX_MRS + at;
        mr->rmr_context = mr->key;
        return mr;
    }
    return NULL;
}

static void mr_give_back(struct core_ia *ia, struct core_mr *mr)
{
    unsigned at = (unsigned)(mr - ia->mrs);
    mr->key = 0;
    if (at < ia->mr_hint)
        ia->mr_hint = at;
}

/* Withdraws a range, waits until no peer is in it, and gives its place back.
 * ia->lock is held, but not while it waits. A stopped peer may be inside for
 * long: false after so many looks, which *patience counts down; the range is
 * withdrawn then, and this may be called again. */
static bool mr_free(struct core_ia *ia, struct core_mr *mr, unsigned *patience)
{
    for (unsigned looks = 0; !ia->transport->mr_withdraw(ia, mr); looks++) {
        if (!*patience)
            return false;
        core_ia_unlock(ia);
        if (looks < WITHDRAW_YIELDS)
            sched_yield();
        else
            usleep(WITHDRAW_POLL_US);
        *patience -= looks >= WITHDRAW_YIELDS;
        core_ia_lock(ia);
    }
    mr_give_back(ia, mr);
    return true;
}

/* ------------------------------------------------------------------ PZ --- */

static const struct core_kind pz_kind = {.type = DAT_HANDLE_TYPE_PZ,
                                         .destroy = core_object_free};

DAT_RETURN core_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *out)
{
    static atomic_uint last_id;
    struct core_ia *ia = core_ia_get(ia_handle);
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    struct core_pz *pz = NULL;
    core_ia_lock(ia);
    if (ia->count[DAT_HANDLE_TYPE_PZ] < ia->can.max_eps)
        pz = core_object_new(ia, &pz_kind, sizeof *pz);
    core_ia_unlock(ia);
    if (!pz)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_PROTECTION_DOMAIN);
    pz->id = atomic_fetch_add(&last_id, 1) + 1;
    *out = pz;
    return DAT_SUCCESS;
}

DAT_RETURN core_pz_query(DAT_PZ_HANDLE handle, DAT_PZ_PARAM_MASK mask,
                         DAT_PZ_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_PZ,
                                      mask & ~DAT_PZ_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_pz *pz = handle;
    param->ia_handle = pz->o.ia;
    return DAT_SUCCESS;
}

DAT_RETURN core_pz_free(DAT_PZ_HANDLE handle)
{
    struct core_pz *pz = core_pz_get(handle);
    if (!pz)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    struct core_ia *ia = pz->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    if (atomic_load(&pz->o.refs))
        ret = CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE);
    else
        core_object_free(pz);
    core_ia_unlock(ia);
    return ret;
}

/* ----------------------------------------------------------------- LMR --- */

/* Without its range. */
static void lmr_end(struct core_lmr *lmr)
{
    core_unref(&lmr->pz->o);
    core_object_free(lmr);
}

static void lmr_destroy(void *object)
{
    struct core_lmr *lmr = object;
    struct core_ia *ia = lmr->o.ia;
    mr_free(ia, lmr->mr, &ia->close_patience);
    lmr_end(lmr);
}

static const struct core_kind lmr_kind = {.type = DAT_HANDLE_TYPE_LMR,
                                          .destroy = lmr_destroy};

/* Fills in and publishes a range; ia->lock is held. */
static DAT_RETURN lmr_register(struct core_lmr *lmr, uint64_t base,
                               uint64_t length, int priv)
{
    struct core_ia *ia = lmr->o.ia;
    struct core_mr *mr = mr_new(ia);
    if (!mr)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_MEMORY_REGION);
    mr->base = base;
    mr->length = length;
    /* Local reading is always allowed, as verbs providers have it: genuine
     * dtest sends from memory that it registered for local writing only. */
    mr->priv = priv | DAT_MEM_PRIV_LOCAL_READ_FLAG;
    mr->pz_id = lmr->pz->id;
    DAT_RETURN ret = ia->transport->mr_publish(ia, mr);
    if (ret != DAT_SUCCESS)
        mr_give_back(ia, mr);
    else
        lmr->mr = mr;
    return ret;
}

DAT_RETURN core_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE type,
                           DAT_REGION_DESCRIPTION region, DAT_VLEN length,
                           DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS priv,
                           DAT_VA_TYPE va_type, DAT_LMR_HANDLE *out,
                           DAT_LMR_CONTEXT *lmr_context,
                           DAT_RMR_CONTEXT *rmr_context,
                           DAT_VLEN *registered_length,
                           DAT_VADDR *registered_address)
{
    struct core_ia *ia = core_ia_get(ia_handle);
    struct core_pz *pz = core_pz_get(pz_handle);
    uint64_t base;
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!pz || pz->o.ia != ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ);
    if ((int)priv & ~PRIV_ALL)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
    if (va_type != DAT_VA_TYPE_VA)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
    if (type == DAT_MEM_TYPE_VIRTUAL) {
        base = (uintptr_t)region.for_va;
        if (!base || !length || base + length < base)
            return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    } else if (type == DAT_MEM_TYPE_LMR) {
        struct core_lmr *of =
            core_object_get(region.for_lmr_handle, DAT_HANDLE_TYPE_LMR);
        if (!of || of->o.ia != ia)
            return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
        base = of->mr->base; /* the whole region, as its length says */
        length = of->mr->length;
    } else if (type == DAT_MEM_TYPE_SHARED_VIRTUAL) {
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    } else {
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    }
    if (ia->forked)
        return CORE_FORKED;

    DAT_RETURN ret =
        CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    core_ia_lock(ia);
    struct core_lmr *lmr = core_object_new(ia, &lmr_kind, sizeof *lmr);
    if (lmr) {
        lmr->pz = pz;
        lmr->mem_type = type;
        lmr->region = region;
        ret = lmr_register(lmr, base, length, (int)priv);
        if (ret == DAT_SUCCESS)
            core_ref(&pz->o);
        else
            core_object_free(lmr);
    }
    core_ia_unlock(ia);
    if (ret != DAT_SUCCESS)
        return ret;

    *out = lmr;
    if (lmr_context)
        *lmr_context = lmr->mr->key;
    if (rmr_context)
        *rmr_context = lmr->mr->rmr_context;
    if (registered_length)
        *registered_length = length;
    if (registered_address)
        *registered_address = base;
    return DAT_SUCCESS;
}

DAT_RETURN core_lmr_query(DAT_LMR_HANDLE handle, DAT_LMR_PARAM_MASK mask,
                          DAT_LMR_PARAM *param)
{
    DAT_RETURN bad = core_query_check(handle, DAT_HANDLE_TYPE_LMR,
                                      mask & ~DAT_LMR_FIELD_ALL, param);
    if (bad != DAT_SUCCESS)
        return bad;
    struct core_lmr *lmr = handle;
    *param = (DAT_LMR_PARAM){
        .ia_handle = lmr->o.ia,
        .mem_type = lmr->mem_type,
        .region_desc = lmr->region,
        .length = lmr->mr->length,
        .pz_handle = lmr->pz,
        .mem_priv = (DAT_MEM_PRIV_FLAGS)lmr->mr->priv,
        .va_type = DAT_VA_TYPE_VA,
        .lmr_context = lmr->mr->key,
        .rmr_context = lmr->mr->rmr_context,
        .registered_size = lmr->mr->length,
        .registered_address = lmr->mr->base,
    };
    return DAT_SUCCESS;
}

DAT_RETURN core_lmr_free(DAT_LMR_HANDLE handle)
{
    struct core_lmr *lmr = core_object_get(handle, DAT_HANDLE_TYPE_LMR);
    if (!lmr)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
    struct core_ia *ia = lmr->o.ia;
    unsigned patience = CORE_PATIENCE;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    if (atomic_load(&lmr->o.refs) || /* an RMR is bound to it */
        !mr_free(ia, lmr->mr, &patience))
        ret = CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
    else
        lmr_end(lmr);
    core_ia_unlock(ia);
    return ret;
}

/* Memory is coherent: there is nothing to do (attribute lmr_sync_req). */
DAT_RETURN core_lmr_sync(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
                         DAT_VLEN count)
{
    if (!core_ia_get(ia))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (count && !segments)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    return DAT_SUCCESS;
}

/* ----------------------------------------------------------------- RMR --- */

/* Without its range. */
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
        mr_free(ia, rmr->mr, &ia->close_patience);
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
    if (!ia->can.rmr)
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

/* INVALID_STATE: a peer is in the window. */
static DAT_RETURN rmr_unbind(struct core_rmr *rmr)
{
    unsigned patience = CORE_PATIENCE;
    if (!rmr->mr)
        return DAT_SUCCESS;
    if (!mr_free(rmr->o.ia, rmr->mr, &patience))
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
    core_unref(&rmr->lmr->o);
    rmr->mr = NULL;
    rmr->lmr = NULL;
    return DAT_SUCCESS;
}

/* Binds to a part of an LMR, ia->lock is held. */
static DAT_RETURN rmr_bind(struct core_rmr *rmr, struct core_lmr *lmr,
                           const DAT_LMR_TRIPLET *t, int priv,
                           struct core_ep *ep)
{
    struct core_ia *ia = rmr->o.ia;
    struct core_mr *mr = mr_new(ia);
    if (!mr)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_MEMORY_REGION);
    mr->base = t->virtual_address;
    mr->length = t->segment_length;
    mr->priv =
        priv & ((int)DAT_MEM_PRIV_REMOTE_READ_FLAG |
                (int)DAT_MEM_PRIV_REMOTE_WRITE_FLAG | CORE_PRIV_REMOTE_ATOMIC);
    mr->pz_id = rmr->pz->id;
    mr->ep = rmr->scope == DAT_RMR_SCOPE_EP ? ep : NULL;
    DAT_RETURN ret = ia->transport->mr_publish(ia, mr);
    if (ret != DAT_SUCCESS) {
        mr_give_back(ia, mr);
        return ret;
    }
    core_ref(&lmr->o);
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
    if (lmr->o.ia != rmr->o.ia || lmr->pz != rmr->pz)
        return CORE_ERROR(DAT_PROTECTION_VIOLATION, 0);
    if (t->lmr_context != mr->key ||
        !core_range_within(mr, t->virtual_address, t->segment_length))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    /* A window may not allow what local access does not. */
    if (((priv & (int)DAT_MEM_PRIV_REMOTE_READ_FLAG) &&
         !(mr->priv & (int)DAT_MEM_PRIV_LOCAL_READ_FLAG)) ||
        ((priv & (int)DAT_MEM_PRIV_REMOTE_WRITE_FLAG) &&
         !(mr->priv & (int)DAT_MEM_PRIV_LOCAL_WRITE_FLAG)))
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
    if ((int)priv & ~PRIV_ALL)
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
    DAT_RETURN ret = rmr_unbind(rmr); /* a new binding ends the old one */
    if (ret == DAT_SUCCESS && lmr)
        ret = rmr_bind(rmr, lmr, triplet, (int)priv, ep);
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

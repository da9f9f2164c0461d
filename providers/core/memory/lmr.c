/* SPDX-License-Identifier: BSD-3-Clause */
/* Local Memory Regions. */
#include "providers/core/internal.h"

/* Frees the object; its range is gone. */
static void lmr_end(struct core_lmr *lmr)
{
    core_unref(&lmr->pz->o);
    core_object_free(lmr);
}

static void lmr_destroy(void *object)
{
    struct core_lmr *lmr = object;
    struct core_ia *ia = lmr->o.ia;
    core_range_free(ia, lmr->mr, &ia->close_patience);
    lmr_end(lmr);
}

static const struct core_kind lmr_kind = {.type = DAT_HANDLE_TYPE_LMR,
                                          .destroy = lmr_destroy};

/* Fills in and publishes a range; ia->lock is held. */
static DAT_RETURN lmr_register(struct core_lmr *lmr, uint64_t base,
                               uint64_t length, int priv)
{
    struct core_ia *ia = lmr->o.ia;
    struct core_mr *mr = core_range_new(ia);
    if (!mr)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES,
                          DAT_RESOURCE_MEMORY_REGION);
    mr->base = base;
    mr->length = length;
    /* Local reading is always allowed, as by verbs providers: the genuine dtest
     * sends from memory that it registered for local writing only. */
    mr->priv = priv | DAT_MEM_PRIV_LOCAL_READ_FLAG;
    mr->pz_id = lmr->pz->id;
    DAT_RETURN ret = ia->transport->mr_publish(ia, mr);
    if (ret != DAT_SUCCESS)
        core_range_give_back(ia, mr);
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
    if ((int)priv & ~CORE_PRIV_ALL)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
    if (va_type != DAT_VA_TYPE_VA)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG8);
    if (type == DAT_MEM_TYPE_VIRTUAL) {
        base = (uintptr_t)region.for_va;
        if (!length)
            return CORE_ERROR(DAT_LENGTH_ERROR, 0);
        if (!base || base + length < base)
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

static DAT_RETURN lmr_free(DAT_LMR_HANDLE handle, uint64_t patience)
{
    struct core_lmr *lmr = core_object_get(handle, DAT_HANDLE_TYPE_LMR);
    if (!lmr)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR);
    struct core_ia *ia = lmr->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    if (atomic_load(&lmr->o.refs) || /* an RMR is bound to it */
        !core_range_free(ia, lmr->mr, &patience))
        ret = CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE);
    else
        lmr_end(lmr);
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_lmr_free(DAT_LMR_HANDLE lmr)
{
    return lmr_free(lmr, CORE_PATIENCE);
}

DAT_RETURN core_lmr_try_free(DAT_LMR_HANDLE lmr)
{
    return lmr_free(lmr, 0);
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

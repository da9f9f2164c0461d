/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection Zones. */
#include "providers/core/internal.h"

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
    return core_object_end(handle, DAT_HANDLE_TYPE_PZ,
                           DAT_INVALID_STATE_PZ_IN_USE);
}

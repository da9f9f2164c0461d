/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bond of one member is that member under another name: it has no other rail
 * to use. Only the functions that take an IA come here, and go on to the
 * member's IA. All other objects are the member's own, so libdat2 calls its
 * provider for them, and a request costs what it costs over the member.
 */
#include <stdlib.h>

#include "providers/bond/bond.h"
#include "providers/bond/members/members.h"

struct single {
    const DAT_PROVIDER *provider; /* libdat2 finds the entry points here */
    DAT_PROVIDER table;           /* with the bond's name */
    DAT_IA_HANDLE member;
};

static DAT_IA_HANDLE member_of(DAT_HANDLE ia)
{
    return ((const struct single *)ia)->member;
}

/* --------------------------------------------------------- entry points --- */

static DAT_RETURN ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async,
                           DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *attr,
                           DAT_PROVIDER_ATTR_MASK provider_mask,
                           DAT_PROVIDER_ATTR *provider)
{
    return dat_ia_query(member_of(ia), async, ia_mask, attr, provider_mask,
                        provider);
}

static DAT_RETURN ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags)
{
    DAT_RETURN ret = dat_ia_close(member_of(ia), flags);
    if (ret == DAT_SUCCESS)
        free(ia);
    return ret;
}

static DAT_RETURN set_context(DAT_HANDLE ia, DAT_CONTEXT context)
{
    return dat_set_consumer_context(member_of(ia), context);
}

static DAT_RETURN get_context(DAT_HANDLE ia, DAT_CONTEXT *context)
{
    return dat_get_consumer_context(member_of(ia), context);
}

static DAT_RETURN get_type(DAT_HANDLE ia, DAT_HANDLE_TYPE *type)
{
    return dat_get_handle_type(member_of(ia), type);
}

static DAT_RETURN cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent,
                             DAT_CNO_HANDLE *cno)
{
    return dat_cno_create(member_of(ia), agent, cno);
}

static DAT_RETURN evd_create(DAT_IA_HANDLE ia, DAT_COUNT qlen,
                             DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
                             DAT_EVD_HANDLE *evd)
{
    return dat_evd_create(member_of(ia), qlen, cno, flags, evd);
}

static DAT_RETURN ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                            DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                            DAT_EVD_HANDLE conn, const DAT_EP_ATTR *attr,
                            DAT_EP_HANDLE *ep)
{
    return dat_ep_create(member_of(ia), pz, recv, request, conn, attr, ep);
}

static DAT_RETURN ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                                     DAT_EVD_HANDLE recv,
                                     DAT_EVD_HANDLE request,
                                     DAT_EVD_HANDLE conn, DAT_SRQ_HANDLE srq,
                                     const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep)
{
    return dat_ep_create_with_srq(member_of(ia), pz, recv, request, conn, srq,
                                  attr, ep);
}

static DAT_RETURN
lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
           DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS priv,
           DAT_VA_TYPE va, DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
           DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
           DAT_VADDR *registered_address)
{
    return dat_lmr_create(member_of(ia), type, region, length, pz, priv, va,
                          lmr, lmr_context, rmr_context, registered_length,
                          registered_address);
}

static DAT_RETURN lmr_sync_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *seg,
                                DAT_VLEN n)
{
    return dat_lmr_sync_rdma_read(member_of(ia), seg, n);
}

static DAT_RETURN lmr_sync_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *seg,
                                 DAT_VLEN n)
{
    return dat_lmr_sync_rdma_write(member_of(ia), seg, n);
}

static DAT_RETURN psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual,
                             DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                             DAT_PSP_HANDLE *psp)
{
    return dat_psp_create(member_of(ia), qual, evd, flags, psp);
}

static DAT_RETURN psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual,
                                 DAT_EVD_HANDLE evd, DAT_PSP_FLAGS flags,
                                 DAT_PSP_HANDLE *psp)
{
    return dat_psp_create_any(member_of(ia), qual, evd, flags, psp);
}

static DAT_RETURN rsp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual,
                             DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd,
                             DAT_RSP_HANDLE *rsp)
{
    return dat_rsp_create(member_of(ia), qual, ep, evd, rsp);
}

static DAT_RETURN pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz)
{
    DAT_RETURN ret = dat_pz_create(member_of(ia), pz);
    if (!ret)
        bond_keep_loaded(*pz);
    return ret;
}

static DAT_RETURN srq_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
                             DAT_SRQ_ATTR *attr, DAT_SRQ_HANDLE *srq)
{
    return dat_srq_create(member_of(ia), pz, attr, srq);
}

static DAT_RETURN no_extension(DAT_HANDLE ia, DAT_EXTENDED_OP op, va_list args)
{
    (void)ia, (void)op, (void)args;
    return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
}

/* libdat2 calls no other function for an IA. */
static const DAT_PROVIDER entry_points = {
    .ia_query_func = ia_query,
    .ia_close_func = ia_close,
    .set_consumer_context_func = set_context,
    .get_consumer_context_func = get_context,
    .get_handle_type_func = get_type,
    .cno_create_func = cno_create,
    .evd_create_func = evd_create,
    .ep_create_func = ep_create,
    .ep_create_with_srq_func = ep_create_with_srq,
    .lmr_create_func = lmr_create,
    .lmr_sync_rdma_read_func = lmr_sync_read,
    .lmr_sync_rdma_write_func = lmr_sync_write,
    .psp_create_func = psp_create,
    .psp_create_any_func = psp_create_any,
    .rsp_create_func = rsp_create,
    .pz_create_func = pz_create,
    .srq_create_func = srq_create,
    .handle_extendedop_func = no_extension,
};

/* -------------------------------------------------------------- opening --- */

DAT_RETURN bond_single_open(const char *name, const char *params,
                            DAT_COUNT async_qlen, DAT_EVD_HANDLE *async,
                            DAT_IA_HANDLE *ia)
{
    struct bond_params p;
    if (bond_params_parse(name, params, &p))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    if (p.count > 1)
        return DAT_SUCCESS;
    struct single *s = malloc(sizeof *s);
    if (!s)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    s->table = entry_points;
    s->table.device_name = name;
    s->provider = &s->table;
    if (bond_member_ia_open(name, p.names[0], async_qlen, async, &s->member)) {
        free(s);
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    }
    *ia = s;
    return DAT_SUCCESS;
}

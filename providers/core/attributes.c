/* SPDX-License-Identifier: BSD-3-Clause */
/* What an IA and its provider say of themselves. */
#include <stdio.h>
#include <string.h>

#include "internal.h"

static void ia_attributes(struct core_ia *ia, DAT_IA_ATTR *a)
{
    const struct core_ability *can = &ia->can;
    DAT_COUNT eps = (DAT_COUNT)can->max_eps;
    DAT_COUNT reads = (DAT_COUNT)can->max_rdma_reads;
    memset(a, 0, sizeof *a);
    memcpy(a->adapter_name, ia->adapter, sizeof a->adapter_name);
    snprintf(a->vendor_name, sizeof a->vendor_name, "dapl_rail");
    a->hardware_version_major = 0;
    a->hardware_version_minor = 1;
    a->ia_address_ptr = (DAT_IA_ADDRESS_PTR)&ia->address;
    a->max_eps = eps;
    a->max_dto_per_ep = (DAT_COUNT)can->max_dtos;
    a->max_rdma_read_per_ep_in = reads;
    a->max_rdma_read_per_ep_out = reads;
    a->max_evds = 2 * eps;
    a->max_evd_qlen = CORE_MAX_EVD_QLEN;
    a->max_iov_segments_per_dto = (DAT_COUNT)can->max_iov;
    a->max_lmrs = CORE_MAX_MRS;
    a->max_lmr_block_size = can->max_rdma_size;
    a->max_lmr_virtual_address = UINT64_MAX;
    a->max_pzs = eps;
    a->max_message_size = can->max_message_size;
    a->max_rdma_size = can->max_rdma_size;
    a->max_rmrs = can->rmr ? CORE_MAX_MRS : 0;
    a->max_rmr_target_address = UINT64_MAX;
    a->max_srqs = can->srq ? eps : 0;
    a->max_ep_per_srq = can->srq ? eps : 0;
    a->max_recv_per_srq = can->srq ? (DAT_COUNT)can->max_dtos : 0;
    a->max_iov_segments_per_rdma_read = (DAT_COUNT)can->max_rdma_iov;
    a->max_iov_segments_per_rdma_write = (DAT_COUNT)can->max_rdma_iov;
    a->max_rdma_read_in = reads * eps;
    a->max_rdma_read_out = reads * eps;
    a->max_rdma_read_per_ep_in_guaranteed = DAT_TRUE;
    a->max_rdma_read_per_ep_out_guaranteed = DAT_TRUE;
    a->zb_supported = DAT_FALSE;
    if (can->write_immed || can->atomics || ia->collectives) {
        a->extension_supported = DAT_EXTENSION_IB;
        a->extension_version = DAT_IB_EXTENSION_VERSION;
    }
}

void core_attribute_add(struct core_ia *ia, const char *name, const char *value)
{
    DAT_NAMED_ATTR *a = &ia->attributes[ia->attribute_count++];
    a->name = name;
    a->value = value;
}

static void provider_attributes(struct core_ia *ia, DAT_PROVIDER_ATTR *out)
{
    DAT_PROVIDER_ATTR a = {
        .provider_version_major = 0,
        .provider_version_minor = 1,
        .dapl_version_major = DAT_VERSION_MAJOR,
        .dapl_version_minor = DAT_VERSION_MINOR,
        .lmr_mem_types_supported =
            (DAT_MEM_TYPE)(DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR),
        .iov_ownership_on_return = DAT_IOV_CONSUMER,
        .dat_qos_supported = DAT_QOS_BEST_EFFORT,
        .completion_flags_supported =
            (DAT_COMPLETION_FLAGS)(DAT_COMPLETION_SUPPRESS_FLAG |
                                   DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                                   DAT_COMPLETION_UNSIGNALLED_FLAG |
                                   DAT_COMPLETION_BARRIER_FENCE_FLAG),
        .is_thread_safe = DAT_FALSE,
        .max_private_data_size = (DAT_COUNT)ia->can.max_private_data,
        .supports_multipath = DAT_FALSE,
        .ep_creator = DAT_PSP_CREATES_EP_NEVER,
        .pz_support = DAT_PZ_UNIQUE,
        .optimal_buffer_alignment = CORE_CACHELINE,
        .evd_stream_merging_supported = {{1, 1, 1, 1, 1, 1},
                                         {1, 1, 1, 1, 1, 1},
                                         {1, 1, 1, 1, 1, 1},
                                         {1, 1, 1, 1, 1, 1},
                                         {1, 1, 1, 1, 1, 1},
                                         {1, 1, 1, 1, 1, 1}},
        .srq_supported = ia->can.srq ? DAT_TRUE : DAT_FALSE,
        .srq_watermarks_supported = ia->can.srq, /* low watermark */
        .srq_ep_pz_difference_supported = DAT_FALSE,
        .srq_info_supported = ia->can.srq,
        .ep_recv_info_supported = 1,
        .lmr_sync_req = DAT_FALSE,
        .dto_async_return_guaranteed = DAT_FALSE,
        .rdma_write_for_rdma_read_req = DAT_FALSE,
        .rdma_read_lmr_rmr_context_exposure = DAT_FALSE,
        .rmr_scope_supported =
            ia->can.rmr_of_ep ? DAT_RMR_SCOPE_ANY : DAT_RMR_SCOPE_PZ,
        .is_signal_safe = DAT_FALSE,
        .ha_supported = DAT_FALSE,
        .ha_loadbalancing = DAT_HA_LB_NONE,
    };
    snprintf(a.provider_name, sizeof a.provider_name, "%s",
             ia->transport->provider);
    if (ia->transport->attributes_asked)
        ia->transport->attributes_asked(ia);
    a.provider_specific_attr = ia->attributes;
    a.num_provider_specific_attr = ia->attribute_count;
    /* the struct has a const member: it can't be assigned */
    memcpy((void *)out, &a, sizeof a);
}

DAT_RETURN core_ia_query(DAT_IA_HANDLE handle, DAT_EVD_HANDLE *async,
                         DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
                         DAT_PROVIDER_ATTR_MASK provider_mask,
                         DAT_PROVIDER_ATTR *provider_attr)
{
    struct core_ia *ia = core_ia_get(handle);
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (ia_mask & ~DAT_IA_FIELD_ALL)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (ia_mask && !ia_attr)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (provider_mask & ~DAT_PROVIDER_FIELD_ALL)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (provider_mask && !provider_attr)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
    if (async)
        *async = core_async_evd(ia);
    if (async && *async == DAT_HANDLE_NULL)
        *async = DAT_EVD_OUT_OF_SCOPE;
    if (ia_mask)
        ia_attributes(ia, ia_attr);
    if (provider_mask)
        provider_attributes(ia, provider_attr);
    return DAT_SUCCESS;
}

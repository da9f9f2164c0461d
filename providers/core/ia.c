/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface Adapters: opening, closing, attributes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define MAX_IAS 128 /* of one process, unless max_ias says otherwise */

static atomic_uint open_ias;

static const struct core_kind ia_kind = {.type = DAT_HANDLE_TYPE_IA};

#define MRS_BYTES (CORE_MAX_MRS * sizeof(struct core_mr))

/* Most entries are never touched, and take no memory. */
static struct core_mr *mrs_new(void)
{
    void *mrs = mmap(NULL, MRS_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return mrs == MAP_FAILED ? NULL : mrs;
}

static void mrs_free(struct core_mr *mrs)
{
    if (mrs)
        munmap(mrs, MRS_BYTES);
}

static DAT_RETURN ia_open(const struct core_entry *entry, DAT_COUNT async_qlen,
                          DAT_EVD_HANDLE *async, DAT_IA_HANDLE *out)
{
    if (async_qlen < 0 || async_qlen > CORE_MAX_EVD_QLEN)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!async)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (!out)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);

    struct core_evd *given = NULL;
    if (*async != DAT_HANDLE_NULL && *async != DAT_EVD_ASYNC_EXISTS) {
        given = core_evd_get(*async);
        if (!given || !(given->flags & DAT_EVD_ASYNC_FLAG))
            return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
    }

    DAT_RETURN ret =
        CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    struct core_ia *ia = NULL;
    unsigned most = entry->transport->max_ias;
    if (atomic_fetch_add(&open_ias, 1) >= (most ? most : MAX_IAS))
        goto fail;
    ia = core_object_new(NULL, &ia_kind, sizeof *ia);
    if (!ia || !(ia->mrs = mrs_new()))
        goto fail;
    ia->o.provider = &entry->table;
    ia->transport = entry->transport;
    ia->can = entry->transport->can;
    pthread_mutex_init(&ia->lock, NULL);
    pthread_mutex_init(&ia->bell_lock, NULL);
    core_fence_init();
    snprintf(ia->name, sizeof ia->name, "%s", entry->name);
    if (*async == DAT_HANDLE_NULL &&
        (ret = core_evd_new(ia, async_qlen, NULL, DAT_EVD_ASYNC_FLAG,
                            &ia->own_async)) != DAT_SUCCESS)
        goto fail;
    /* last: what it does outside the process need not be undone */
    ret = ia->transport->ia_open(ia, entry->params);
    if (ret != DAT_SUCCESS)
        goto fail;
    ret = core_collectives_open(ia, entry->collectives);
    if (ret != DAT_SUCCESS) {
        ia->transport->ia_close(ia);
        goto fail;
    }
    if (ia->own_async)
        *async = given = ia->own_async;
    if (given)
        core_async_begin(ia, given);
    core_fork_add(ia);
    *out = ia;
    return DAT_SUCCESS;

fail:
    atomic_fetch_sub(&open_ias, 1);
    if (ia) {
        if (ia->own_async)
            ia->own_async->o.kind->destroy(ia->own_async);
        mrs_free(ia->mrs);
        core_object_free(ia);
    }
    return ret;
}

DAT_RETURN core_ia_open(const struct core_entry *entry, DAT_COUNT async_qlen,
                        DAT_EVD_HANDLE *async, DAT_IA_HANDLE *out)
{
    int state = core_cancel_off();
    DAT_RETURN ret = ia_open(entry, async_qlen, async, out);
    core_cancel_as(state);
    return ret;
}

/* An abrupt close destroys everything: objects before those that they use. */
static void destroy_all(struct core_ia *ia)
{
    static const DAT_HANDLE_TYPE order[] = {
        (DAT_HANDLE_TYPE)DAT_IB_HANDLE_TYPE_COLLECTIVE, DAT_HANDLE_TYPE_CR,  DAT_HANDLE_TYPE_RSP, DAT_HANDLE_TYPE_PSP,
        DAT_HANDLE_TYPE_EP,  DAT_HANDLE_TYPE_RMR, DAT_HANDLE_TYPE_LMR,
        DAT_HANDLE_TYPE_SRQ, DAT_HANDLE_TYPE_PZ,  DAT_HANDLE_TYPE_EVD,
        DAT_HANDLE_TYPE_CNO};
    ia->close_patience =
        CORE_PATIENCE; /* a stopped peer may be accessing memory */
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        for (struct core_object *o = ia->objects, *next; o; o = next) {
            next = o->next;
            if (o->type == order[i])
                o->kind->destroy(o);
        }
}

static DAT_RETURN ia_close(struct core_ia *ia, DAT_CLOSE_FLAGS flags)
{
    core_ia_lock(ia);
    core_collectives_reap(ia);
    struct core_object *only = ia->own_async ? &ia->own_async->o : NULL;
    bool used = ia->objects && (ia->objects != only || ia->objects->next);
    if (only && atomic_load(&only->refs) > 1)
        used = true; /* the asynchronous events of another IA go there */
    if (used && flags == DAT_CLOSE_GRACEFUL_FLAG) {
        core_ia_unlock(ia);
        return CORE_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
    }
    core_async_end(ia);
    destroy_all(ia);
    core_ia_unlock(ia);

    core_collectives_close(ia);
    core_fork_remove(ia);
    ia->transport->ia_close(ia);
    core_epset_free(&ia->eps);
    core_epset_free(&ia->polled);
    pthread_mutex_destroy(&ia->bell_lock);
    pthread_mutex_destroy(&ia->lock);
    mrs_free(ia->mrs);
    core_object_free(ia);
    atomic_fetch_sub(&open_ias, 1);
    return DAT_SUCCESS;
}

DAT_RETURN core_ia_close(DAT_IA_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
    struct core_ia *ia = core_ia_get(handle);
    if (!ia)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    int state = core_cancel_off();
    DAT_RETURN ret = ia_close(ia, flags);
    core_cancel_as(state);
    return ret;
}

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
    if (can->write_immed || can->atomics) {
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

DAT_RETURN core_ia_ha(DAT_IA_HANDLE handle, const DAT_NAME_PTR name,
                      DAT_BOOLEAN *answer)
{
    if (!core_ia_get(handle))
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!name)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (!answer)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    *answer = DAT_FALSE; /* no IA can replace another */
    return DAT_SUCCESS;
}

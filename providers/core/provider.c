/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library as libdat2 sees it. libdat2 loads it for a line of dat.conf,
 * calls dat_provider_init with IA name and parameters, and gets a table of
 * entry points for that name. The library stays loaded (-z nodelete), so
 * handles and tables outlive dat_provider_fini.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static struct {
    pthread_mutex_t lock;
    const struct core_transport *transport; /* of all entries */
    struct core_entry *first;
    struct core_entry reserve; /* libdat2 does not ask a second time */
} entries = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void hold_over_fork(void)
{
    core_fork_hold(&entries.lock);
}

static struct core_entry *entry_find(const char *name)
{
    struct core_entry *e = entries.first;
    while (e && strcmp(e->name, name))
        e = e->next;
    return e;
}

static struct core_entry *entry_get(const char *name)
{
    pthread_mutex_lock(&entries.lock);
    struct core_entry *e = entry_find(name);
    pthread_mutex_unlock(&entries.lock);
    return e;
}

static DAT_RETURN stand_in(const struct core_entry *e, DAT_COUNT async_qlen,
                           DAT_EVD_HANDLE *async, DAT_IA_HANDLE *other)
{
    if (!e->transport->stand_in)
        return DAT_SUCCESS;
    int state = core_cancel_off();
    DAT_RETURN ret =
        e->transport->stand_in(e->name, e->params, async_qlen, async, other);
    core_cancel_as(state);
    return ret;
}

static DAT_RETURN ia_open(const DAT_NAME_PTR name, DAT_COUNT async_qlen,
                          DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia)
{
    const struct core_entry *e = name ? entry_get(name) : NULL;
    if (!e)
        return CORE_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
    DAT_IA_HANDLE other = DAT_HANDLE_NULL;
    DAT_RETURN ret = ia && async ? stand_in(e, async_qlen, async, &other)
                                 : DAT_SUCCESS; /* core_ia_open refuses it */
    if (ret != DAT_SUCCESS)
        return ret;
    if (other == DAT_HANDLE_NULL)
        return core_ia_open(e, async_qlen, async, ia);
    if (e->collectives[0])
        fprintf(stderr,
                "dapl: rail %s: collectives in dat.conf: not used: this rail "
                "is another one, under this name\n",
                e->name);
    *ia = other;
    return DAT_SUCCESS;
}

/* Entry points of DAT 2.0 that no consumer can use here. */
static DAT_RETURN no_csp_create(DAT_IA_HANDLE ia, DAT_COMM *comm,
                                DAT_IA_ADDRESS_PTR address, DAT_EVD_HANDLE evd,
                                DAT_CSP_HANDLE *csp)
{
    (void)ia, (void)comm, (void)address, (void)evd, (void)csp;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static DAT_RETURN no_csp_query(DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask,
                               DAT_CSP_PARAM *param)
{
    (void)csp, (void)mask, (void)param;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static DAT_RETURN no_csp_free(DAT_CSP_HANDLE csp)
{
    (void)csp;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static DAT_RETURN no_common_connect(DAT_EP_HANDLE ep,
                                    DAT_IA_ADDRESS_PTR address,
                                    DAT_TIMEOUT timeout, DAT_COUNT size,
                                    const DAT_PVOID data)
{
    (void)ep, (void)address, (void)timeout, (void)size, (void)data;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static DAT_RETURN
no_send_invalidate(DAT_EP_HANDLE ep, DAT_COUNT n, DAT_LMR_TRIPLET *iov,
                   DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
                   DAT_BOOLEAN invalidate, DAT_RMR_CONTEXT context)
{
    (void)ep, (void)n, (void)iov, (void)cookie, (void)flags;
    (void)invalidate, (void)context;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static DAT_RETURN no_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *to,
                                 DAT_DTO_COOKIE cookie,
                                 const DAT_RMR_TRIPLET *from,
                                 DAT_COMPLETION_FLAGS flags)
{
    (void)ep, (void)to, (void)cookie, (void)from, (void)flags;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static DAT_RETURN no_cno_fd(DAT_IA_HANDLE ia, DAT_FD *fd, DAT_CNO_HANDLE *cno)
{
    (void)ia, (void)fd, (void)cno;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static DAT_RETURN no_cno_trigger(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd)
{
    (void)cno, (void)evd;
    return CORE_ERROR(DAT_NOT_IMPLEMENTED, 0);
}

static const DAT_PROVIDER entry_points = {
    .ia_open_func = ia_open,
    .ia_query_func = core_ia_query,
    .ia_close_func = core_ia_close,
    .set_consumer_context_func = core_set_context,
    .get_consumer_context_func = core_get_context,
    .get_handle_type_func = core_get_type,
    .cno_create_func = core_cno_create,
    .cno_modify_agent_func = core_cno_modify_agent,
    .cno_query_func = core_cno_query,
    .cno_free_func = core_cno_free,
    .cno_wait_func = core_cno_wait,
    .cr_query_func = core_cr_query,
    .cr_accept_func = core_cr_accept,
    .cr_reject_func = core_cr_reject,
    .cr_handoff_func = core_cr_handoff,
    .evd_create_func = core_evd_create,
    .evd_query_func = core_evd_query,
    .evd_modify_cno_func = core_evd_modify_cno,
    .evd_enable_func = core_evd_enable,
    .evd_disable_func = core_evd_disable,
    .evd_wait_func = core_evd_wait,
    .evd_resize_func = core_evd_resize,
    .evd_post_se_func = core_evd_post_se,
    .evd_dequeue_func = core_evd_dequeue,
    .evd_free_func = core_evd_free,
    .ep_create_func = core_ep_create,
    .ep_query_func = core_ep_query,
    .ep_modify_func = core_ep_modify,
    .ep_connect_func = core_ep_connect,
    .ep_dup_connect_func = core_ep_dup_connect,
    .ep_disconnect_func = core_ep_disconnect,
    .ep_post_send_func = core_post_send,
    .ep_post_recv_func = core_post_recv,
    .ep_post_rdma_read_func = core_post_rdma_read,
    .ep_post_rdma_write_func = core_post_rdma_write,
    .ep_get_status_func = core_ep_get_status,
    .ep_free_func = core_ep_free,
    .lmr_create_func = core_lmr_create,
    .lmr_query_func = core_lmr_query,
    .lmr_free_func = core_lmr_free,
    .rmr_create_func = core_rmr_create,
    .rmr_query_func = core_rmr_query,
    .rmr_bind_func = core_rmr_bind,
    .rmr_free_func = core_rmr_free,
    .psp_create_func = core_psp_create,
    .psp_query_func = core_psp_query,
    .psp_free_func = core_psp_free,
    .rsp_create_func = core_rsp_create,
    .rsp_query_func = core_rsp_query,
    .rsp_free_func = core_rsp_free,
    .pz_create_func = core_pz_create,
    .pz_query_func = core_pz_query,
    .pz_free_func = core_pz_free,
    .psp_create_any_func = core_psp_create_any,
    .ep_reset_func = core_ep_reset,
    .evd_set_unwaitable_func = core_evd_set_unwaitable,
    .evd_clear_unwaitable_func = core_evd_clear_unwaitable,
    .lmr_sync_rdma_read_func = core_lmr_sync,
    .lmr_sync_rdma_write_func = core_lmr_sync,
    .ep_create_with_srq_func = core_ep_create_with_srq,
    .ep_recv_query_func = core_ep_recv_query,
    .ep_set_watermark_func = core_ep_set_watermark,
    .srq_create_func = core_srq_create,
    .srq_free_func = core_srq_free,
    .srq_post_recv_func = core_srq_post_recv,
    .srq_query_func = core_srq_query,
    .srq_resize_func = core_srq_resize,
    .srq_set_lw_func = core_srq_set_lw,
    .csp_create_func = no_csp_create,
    .csp_query_func = no_csp_query,
    .csp_free_func = no_csp_free,
    .ep_common_connect_func = no_common_connect,
    .rmr_create_for_ep_func = core_rmr_create_for_ep,
    .ep_post_send_with_invalidate_func = no_send_invalidate,
    .ep_post_rdma_read_to_rmr_func = no_read_to_rmr,
    .cno_fd_create_func = no_cno_fd,
    .cno_trigger_func = no_cno_trigger,
    .ia_ha_related_func = core_ia_ha,
    .handle_extendedop_func = core_extension_op,
};

static struct core_entry *entry_new(const char *name)
{
    struct core_entry *e = calloc(1, sizeof *e);
    if (!e && !entries.reserve.transport)
        e = &entries.reserve;
    if (!e)
        return NULL;
    snprintf(e->name, sizeof e->name, "%s", name);
    e->transport = entries.transport;
    e->table = entry_points;
    e->table.device_name = e->name;
    e->next = entries.first;
    entries.first = e;
    return e;
}

void core_transport_is(const struct core_transport *transport)
{
    entries.transport = transport;
    core_fork_watch();
}

void dat_provider_init(const DAT_PROVIDER_INFO *info, const char *params)
{
    pthread_mutex_lock(&entries.lock);
    struct core_entry *e = entry_find(info->ia_name);
    e = e ? e : entry_new(info->ia_name);
    if (e) {
        snprintf(e->params, sizeof e->params, "%s", params ? params : "");
        core_params_take(e->params, "collectives=", e->collectives);
    }
    pthread_mutex_unlock(&entries.lock);
    if (e)
        dat_registry_add_provider(&e->table, info);
}

void dat_provider_fini(const DAT_PROVIDER_INFO *info)
{
    struct core_entry *e = entry_get(info->ia_name);
    if (e)
        dat_registry_remove_provider(&e->table, info);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The ofi transport as core sees it. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ofi.h"

static void own_attributes(struct core_ia *ia)
{
    struct ofi_ia *oia = ofi_ia(ia);
    core_attribute_add(ia, "fabric", oia->params.provider);
    core_attribute_add(ia, "device", oia->device);
    if (oia->talks) {
        core_attribute_add(ia, "completion", "delivered");
        core_attribute_add(ia, "progress", "polled");
        core_attribute_add(ia, "registration", "lazy");
        core_attribute_add(ia, DAPL_GROWING_SENDS, "TRUE");
        core_attribute_add(ia, DAPL_COUNTED_WRITES, "TRUE");
    }
    if (ia->can.write_immed)
        core_attribute_add(ia, DAT_IB_ATTR_IMMED_DATA, "TRUE");
}

static void own_free(struct ofi_ia *oia)
{
    if (oia->nudge_fd >= 0)
        close(oia->nudge_fd);
    pthread_mutex_destroy(&oia->cq_lock);
    free(oia);
}

static DAT_RETURN ofi_ia_open(struct core_ia *ia, const char *params)
{
    struct ofi_ia *oia = calloc(1, sizeof *oia);
    if (!oia)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    ia->tp = oia;
    oia->ia = ia;
    oia->epoll_fd = oia->wake_fd = oia->link_fd = -1;
    oia->nudge_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    oia->params = (struct ofi_params){.provider = "tcp", .silence_ms = 2000};
    pthread_mutex_init(&oia->cq_lock, NULL);
    oia->thread_main = ofi_loop;
    oia->issue = ofi_issue;
    DAT_RETURN ret =
        oia->nudge_fd < 0
            ? CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE)
            : core_params_parse(&ofi_params_known, ia->name, params,
                                &oia->params);
    if (ret == DAT_SUCCESS && ofi_device_find(oia))
        ret = CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
    if (ret == DAT_SUCCESS)
        ret = ofi_fabric_open(oia);
    if (ret != DAT_SUCCESS) {
        own_free(oia);
        return ret;
    }
    own_attributes(ia);
    ofi_device_adapter(oia, ia->adapter, sizeof ia->adapter);
    return DAT_SUCCESS;
}

static void ofi_ia_close(struct core_ia *ia)
{
    struct ofi_ia *oia = ofi_ia(ia);
    ofi_thread_stop(oia);
    ofi_listeners_look(oia, UINT64_MAX);
    while (oia->conns)
        ofi_conn_free(oia->conns);
    if (!ia->forked)
        ofi_fabric_close(oia);
    own_free(oia);
}

static void ofi_forked(struct core_ia *ia)
{
    struct ofi_ia *oia = ofi_ia(ia);
    pthread_mutex_init(&oia->cq_lock, NULL);
    atomic_store(&oia->open_conns, 0);
    atomic_store(&oia->cq_wanted, 0);
    atomic_store(&oia->corked, NULL);
    atomic_store(&oia->sleepers, 0);
    ofi_thread_forked(oia);
    ofi_cm_forked(oia);
    for (struct ofi_conn *c = oia->conns; c; c = c->next)
        ofi_conn_forked(c);
}

static const struct core_transport transport = {
    .provider = "dapl_rail ofi",
    .can = {.max_eps = OFI_MAX_EPS,
            .max_dtos = 4096,
            .default_dtos = 256,
            .max_iov = CORE_MAX_IOV,
            .max_rdma_iov = CORE_MAX_IOV,
            .max_rdma_reads = 256,
            .max_private_data = CORE_MAX_PRIVATE_DATA,
            .max_message_size = 1u << 30,
            .max_rdma_size = 1u << 30},
    .request_size = sizeof(struct ofi_request),
    .ia_open = ofi_ia_open,
    .ia_close = ofi_ia_close,
    .ep_attributes_asked = ofi_ep_attributes,
    .forked = ofi_forked,
    .mr_publish = ofi_mr_publish,
    .mr_withdraw = ofi_mr_withdraw,
    .listen = ofi_listen,
    .unlisten = ofi_unlisten,
    .connect = ofi_connect,
    .accept = ofi_accept,
    .reject = ofi_reject,
    .disconnect = ofi_disconnect,
    .ep_release = ofi_ep_release,
    .post = ofi_post,
    .append = ofi_append,
    .writes_counted = ofi_writes_counted,
    .recv_post = ofi_recv_post,
    .ia_progress = ofi_progress,
    .abort = ofi_abort,
    .arm = ofi_arm,
    .sleep = ofi_sleep,
    .ring = ofi_ring,
    .in_kernel = true,
};

__attribute__((constructor)) static void library_loaded(void)
{
    core_transport_is(&transport);
}

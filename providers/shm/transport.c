/* SPDX-License-Identifier: BSD-3-Clause */
/* The shm transport as core sees it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "shm.h"

/* A rail is a port of its own, so it has an address of its own: one of the
 * host's 2^24 loopback addresses, from the IA name (FNV-1a). */
static void own_address(struct core_ia *ia)
{
    struct sockaddr_in *a = (struct sockaddr_in *)&ia->address;
    uint32_t hash = 2166136261u;
    for (const char *c = ia->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    a->sin_family = AF_INET;
    a->sin_addr.s_addr = htonl(127u << 24 | (hash >> 8 & 0xfffffe) | 1);
}

static DAT_RETURN shm_ia_open(struct core_ia *ia, const char *params)
{
    struct shm_ia *sia = calloc(1, sizeof *sia);
    if (!sia)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    DAT_RETURN ret = shm_params_parse(ia->name, params, &sia->params);
    if (ret == DAT_SUCCESS && shm_control_create(sia))
        ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    if (ret != DAT_SUCCESS) {
        free(sia);
        return ret;
    }
    sia->ia = ia;
    sia->epoll_fd = sia->wake_fd = -1;
    own_address(ia);
    /* each rail stands for an adapter of its own */
    snprintf(ia->adapter, sizeof ia->adapter, "%s", ia->name);
    ia->tp = sia;
    return DAT_SUCCESS;
}

static void shm_ia_close(struct core_ia *ia)
{
    struct shm_ia *sia = shm_ia(ia);
    shm_cm_stop(sia);
    shm_control_destroy(sia);
    free(sia);
}

static DAT_NAMED_ATTR *shm_attributes(struct core_ia *ia, DAT_COUNT *count)
{
    static DAT_NAMED_ATTR attributes[] = {
        {"fabric", "shm"},
        {DAT_IB_ATTR_FETCH_AND_ADD, "TRUE"},
        {DAT_IB_ATTR_CMP_AND_SWAP, "TRUE"},
        {DAT_IB_ATTR_IMMED_DATA, "TRUE"},
    };
    (void)ia;
    *count = sizeof attributes / sizeof attributes[0];
    return attributes;
}

const struct core_transport core_transport = {
    .provider = "dapl_rail shm",
    .max_eps = 4096,
    .attributes = shm_attributes,
    .ia_open = shm_ia_open,
    .ia_close = shm_ia_close,
    .mr_publish = shm_mr_publish,
    .mr_withdraw = shm_mr_withdraw,
    .listen = shm_listen,
    .unlisten = shm_unlisten,
    .connect = shm_connect,
    .accept = shm_accept,
    .reject = shm_reject,
    .disconnect = shm_disconnect,
    .ep_release = shm_ep_release,
    .post = shm_post,
    .recv_posted = shm_recv_posted,
    .progress = shm_progress,
    .abort = shm_abort,
    .arm = shm_arm,
    .sleep = shm_sleep,
    .disarm = shm_disarm,
    .wake = shm_wake,
};

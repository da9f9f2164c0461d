/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the shm transport; opening and closing an IA. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "providers/core/extensions.h"
#include "providers/shm/shm.h"
#include "providers/shm/connect/abort.h"
#include "providers/shm/connect/lifetime.h"
#include "providers/shm/connect/manager.h"
#include "providers/shm/connect/passive_side.h"
#include "providers/shm/link_model/cable.h"
#include "providers/shm/memory/adopt.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/memory/range_table.h"
#include "providers/shm/message/data.h"
#include "providers/shm/wakeup/announce.h"
#include "providers/shm/wakeup/doorbell.h"
#include "providers/shm/wakeup/poll_announced.h"

/* A port has a loopback address of its own, made from its name (FNV-1a).
 * Without the parameter port, a rail has a port of its own. */
static void own_address(struct core_ia *ia)
{
    struct sockaddr_in *a = (struct sockaddr_in *)&ia->address;
    const struct shm_params *p = &shm_ia(ia)->params;
    uint32_t hash = 2166136261u;
    for (const char *c = p->port[0] ? p->port : ia->name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    a->sin_family = AF_INET;
    a->sin_addr.s_addr = htonl(SHM_RAIL_ADDRESS | hash >> 8);
}

static void add_rate(struct core_ia *ia, const char *name, char text[32],
                     double rate)
{
    if (!(rate > 0))
        return;
    snprintf(text, 32, "%g", rate);
    core_attribute_add(ia, name, text);
}

static void own_attributes(struct core_ia *ia)
{
    struct shm_ia *sia = shm_ia(ia);
    const char *fabric = sia->params.fabric;
    snprintf(sia->fabric_text, sizeof sia->fabric_text, "shm%s%s",
             fabric[0] ? ":" : "", fabric);
    core_attribute_add(ia, "fabric", sia->fabric_text);
    core_attribute_add(ia, "scope", sia->params.network ? "network" : "host");
    /* completed: in the target's memory, or received */
    core_attribute_add(ia, "completion", "delivered");
    /* registering allocates no pages */
    core_attribute_add(ia, "registration", "lazy");
    core_attribute_add(ia, DAT_IB_ATTR_FETCH_AND_ADD, "TRUE");
    core_attribute_add(ia, DAT_IB_ATTR_CMP_AND_SWAP, "TRUE");
    core_attribute_add(ia, "atomics", "processor");
    core_attribute_add(ia, DAT_IB_ATTR_IMMED_DATA, "TRUE");
    snprintf(sia->inline_text, sizeof sia->inline_text, "%u",
             ia->can.max_inline_send);
    core_attribute_add(ia, DAPL_MAX_INLINE_SEND, sia->inline_text);
    core_attribute_add(ia, DAPL_PLACES_RECEIVES, "TRUE");
    core_attribute_add(ia, DAPL_COUNTED_WRITES, "TRUE");
    if (ia->can.syncs)
        core_attribute_add(ia, DAPL_SYNC_RDMA, "TRUE");
    if (ia->can.direct)
        core_attribute_add(ia, DAPL_DIRECT_MESSAGES, "TRUE");
    core_attribute_add(ia, "copies", sia->copies_text);
    core_attribute_add(ia, "copies_non_temporal", sia->streamed_text);
    if (sia->params.adopt)
        core_attribute_add(ia, "adopted", sia->adopted_text);
    if (sia->cable)
        core_attribute_add(ia, "cable", sia->params.cable);
    if (!sia->clocks)
        return;
    add_rate(ia, "link_rate_MBps", sia->rate_text[0], sia->params.rate);
    add_rate(ia, "adapter_rate_MBps", sia->rate_text[1],
             sia->params.adapter_rate);
    add_rate(ia, "bus_rate_MBps", sia->rate_text[2], sia->params.bus_rate);
    if (sia->params.bus[0])
        core_attribute_add(ia, "bus", sia->params.bus);
    core_attribute_add(ia, "link_model", sia->params_text);
}

static DAT_RETURN shm_ia_open(struct core_ia *ia, const char *params)
{
    struct shm_ia *sia = calloc(1, sizeof *sia);
    if (!sia)
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    ia->tp = sia;
    sia->ia = ia;
    sia->epoll_fd = sia->wake_fd = sia->cable_fd = -1;
    DAT_RETURN ret = shm_params_parse(ia->name, params, &sia->params);
    if (ret != DAT_SUCCESS)
        goto fail;
    sia->params.adopt = sia->params.adopt && shm_adopt_possible();
    snprintf(sia->params_text, sizeof sia->params_text, "%s", params);
    sia->stream_least = shm_choice_least(&sia->params);
    sia->announced = calloc(SHM_ANNOUNCED, sizeof *sia->announced);
    ret = CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    if (!sia->announced || shm_control_create(sia))
        goto fail;
    if (shm_cable_open(sia) || shm_model_open(sia)) {
        shm_cable_close(sia);
        shm_control_destroy(sia);
        ret = CORE_ERROR(DAT_INVALID_PARAMETER, DAT_NO_SUBTYPE);
        goto fail;
    }
    ia->can.syncs = ia->can.direct = !sia->cable && !sia->clocks;
    ia->announced_words = &sia->control.door->announced_words;
    own_address(ia);
    own_attributes(ia);
    snprintf(ia->adapter, sizeof ia->adapter, "%s",
             sia->params.adapter[0] ? sia->params.adapter : ia->name);
    return DAT_SUCCESS;
fail:
    free(sia->announced);
    free(sia);
    return ret;
}

static void shm_ia_close(struct core_ia *ia)
{
    struct shm_ia *sia = shm_ia(ia);
    shm_manager_stop(sia);
    shm_mr_close(sia);
    shm_control_destroy(sia);
    shm_cable_close(sia);
    free(sia->announced);
    free(sia);
}

static void shm_forked(struct core_ia *ia)
{
    shm_manager_forked(shm_ia(ia));
    shm_control_forked(shm_ia(ia));
}

static void shm_attributes_asked(struct core_ia *ia)
{
    struct shm_ia *sia = shm_ia(ia);
    shm_choice_text(sia, sia->copies_text, sizeof sia->copies_text);
    snprintf(sia->streamed_text, sizeof sia->streamed_text, "%" PRIu64,
             atomic_load(&sia->streamed));
    snprintf(sia->adopted_text, sizeof sia->adopted_text, "%u",
             atomic_load(&sia->adopted));
}

static const struct core_transport transport = {
    .provider = "dapl_rail shm",
    .can = {.max_eps = 4096,
            .max_dtos = SHM_MAX_DTOS,
            .default_dtos = 256,
            .max_iov = CORE_MAX_IOV,
            .max_rdma_iov = CORE_MAX_IOV,
            .max_rdma_reads = 256,
            .max_private_data = CORE_MAX_PRIVATE_DATA,
            .max_message_size = 1u << 30,
            .max_rdma_size = 1u << 30,
            .max_inline_send = SHM_INLINE_MAX,
            .places = true,
            .counts = true,
            .syncs = true,
            .direct = true,
            .srq = true,
            .rmr = true,
            .rmr_of_ep = true,
            .write_immed = true,
            .atomics = true},
    .request_size = sizeof(struct shm_request),
    .requests_move = true,
    .ep_size = sizeof(struct shm_ep),
    .attributes_asked = shm_attributes_asked,
    .ia_open = shm_ia_open,
    .ia_close = shm_ia_close,
    .forked = shm_forked,
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
    .post_sync = shm_post_sync,
    .direct = {.send = shm_direct_send,
               .take = shm_direct_take,
               .write = shm_direct_write},
    .writes_counted = shm_writes_counted,
    .recv_post = shm_recv_post,
    .recv_posted = shm_recv_posted,
    .progress = shm_progress,
    .next_due = shm_next_due,
    .announce = shm_announce,
    .announced = shm_poll_announced,
    .abort = shm_abort,
    .arm = shm_arm,
    .sleep = shm_sleep,
    .ring = shm_ring,
    .set_bells = shm_set_bells,
};

__attribute__((constructor)) static void library_loaded(void)
{
    core_transport_is(&transport);
}

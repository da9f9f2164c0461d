/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of an EP: connecting, disconnecting, and the events by which
 * the transport reports both. ia->lock is held. */
#include <stdlib.h>
#include <string.h>

#include "providers/core/internal.h"

DAT_RETURN core_ep_connect(DAT_EP_HANDLE handle, DAT_IA_ADDRESS_PTR address,
                           DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
                           DAT_COUNT size, const DAT_PVOID private_data,
                           DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (!address)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
        return CORE_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
    if (!timeout)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (!core_private_data_ok(ep->o.ia, size, private_data))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (qos & ~(DAT_QOS_HIGH_THROUGHPUT | DAT_QOS_LOW_LATENCY |
                DAT_QOS_ECONOMY | DAT_QOS_PREMIUM))
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
    if (flags & DAT_CONNECT_MULTIPATH_REQUIRED_FLAG)
        return CORE_ERROR(DAT_MODEL_NOT_SUPPORTED, 0);

    struct core_ia *ia = ep->o.ia;
    DAT_RETURN ret;
    if (ia->forked)
        return CORE_FORKED;
    core_ia_lock(ia);
    DAT_EP_STATE state = core_ep_state(ep);
    if (state != DAT_EP_STATE_UNCONNECTED) {
        ret = core_ep_bad_state(state);
        goto out;
    }
    const struct sockaddr_in6 remote = ep->remote;
    const DAT_CONN_QUAL remote_qual = ep->remote_qual;
    memset(&ep->remote, 0, sizeof ep->remote);
    memcpy(&ep->remote, address,
           address->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                         : sizeof(struct sockaddr_in6));
    ep->remote_qual = qual;
    atomic_store(&ep->state, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    ret = ia->transport->connect(
        ep, timeout == DAT_TIMEOUT_INFINITE ? UINT64_MAX : timeout, size,
        private_data);
    if (ret != DAT_SUCCESS) {
        ep->remote = remote;
        ep->remote_qual = remote_qual;
        core_ep_set_idle(ep);
    }
out:
    core_ia_unlock(ia);
    return ret;
}

DAT_RETURN core_ep_dup_connect(DAT_EP_HANDLE handle, DAT_EP_HANDLE like_handle,
                               DAT_TIMEOUT timeout, DAT_COUNT size,
                               const DAT_PVOID private_data, DAT_QOS qos)
{
    struct core_ep *like = core_ep_get(like_handle);
    if (!like)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (core_ep_state(like) != DAT_EP_STATE_CONNECTED)
        return core_ep_bad_state(core_ep_state(like));
    return core_ep_connect(handle, (DAT_IA_ADDRESS_PTR)&like->remote,
                           like->remote_qual, timeout, size, private_data, qos,
                           DAT_CONNECT_DEFAULT_FLAG);
}

DAT_RETURN core_ep_disconnect(DAT_EP_HANDLE handle, DAT_CLOSE_FLAGS flags)
{
    struct core_ep *ep = core_ep_get(handle);
    if (!ep)
        return CORE_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return CORE_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    struct core_ia *ia = ep->o.ia;
    DAT_RETURN ret = DAT_SUCCESS;
    core_ia_lock(ia);
    DAT_EP_STATE state = core_ep_state(ep);
    switch (state) {
    case DAT_EP_STATE_DISCONNECTED:
        break; /* nothing left to do */
    case DAT_EP_STATE_CONNECTED:
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_DISCONNECT_PENDING:
        if (!ep->tp) { /* the CR of an RSP, not accepted yet */
            ret = core_ep_bad_state(state);
            break;
        }
        ia->transport->disconnect(ep, flags == DAT_CLOSE_GRACEFUL_FLAG);
        break;
    default:
        ret = core_ep_bad_state(state);
    }
    core_ia_unlock(ia);
    return ret;
}

/* ------------------------------------------------ the transport reports --- */

/* Copies the peer's private data, which are mostly short. Neither place moves,
 * because events that have not been taken may point there. NULL: out of memory.
 */
static void *private_data_keep(struct core_ep *ep, const void *data,
                               uint32_t size)
{
    void *place = ep->private_little;
    if (size > sizeof ep->private_little) {
        if (!ep->private_data)
            ep->private_data = malloc(CORE_MAX_PRIVATE_DATA);
        place = ep->private_data;
    }
    return place ? memcpy(place, data, size) : NULL;
}

static void connection_event(struct core_ep *ep, DAT_EVENT_NUMBER number,
                             const void *private_data, DAT_COUNT size)
{
    DAT_EVENT e = {.event_number = number};
    void *kept =
        size ? private_data_keep(ep, private_data, (uint32_t)size) : NULL;
    e.event_data.connect_event_data.ep_handle = ep;
    e.event_data.connect_event_data.private_data_size = kept ? size : 0;
    e.event_data.connect_event_data.private_data = kept;
    core_evd_post(ep->connect_evd, &e, true);
}

void core_ep_established(struct core_ep *ep, const void *private_data,
                         DAT_COUNT size)
{
    /* from here on, the peer sees receives that were posted before */
    atomic_store(&ep->state, DAT_EP_STATE_CONNECTED);
    connection_event(ep, DAT_CONNECTION_EVENT_ESTABLISHED, private_data, size);
    core_ep_ring(ep); /* a message may have arrived before that */
}

void core_ep_disconnected(struct core_ep *ep, DAT_EVENT_NUMBER event,
                          const void *private_data, DAT_COUNT size)
{
    core_ep_unpoll(ep);
    atomic_store(&ep->state, DAT_EP_STATE_DISCONNECTED);
    core_ep_flush(ep);
    connection_event(ep, event, private_data, size);
}

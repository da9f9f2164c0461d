/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of an Endpoint. */
#include "providers/core/internal.h"

DAT_RETURN core_ep_bad_state(DAT_EP_STATE state)
{
    static const DAT_RETURN_SUBTYPE subtype[] = {
        [DAT_EP_STATE_UNCONNECTED] = DAT_INVALID_STATE_EP_UNCONNECTED,
        [DAT_EP_STATE_UNCONFIGURED_UNCONNECTED] =
            DAT_INVALID_STATE_EP_UNCONFIGURED,
        [DAT_EP_STATE_RESERVED] = DAT_INVALID_STATE_EP_RESERVED,
        [DAT_EP_STATE_UNCONFIGURED_RESERVED] =
            DAT_INVALID_STATE_EP_UNCONFRESERVED,
        [DAT_EP_STATE_PASSIVE_CONNECTION_PENDING] =
            DAT_INVALID_STATE_EP_PASSCONNPENDING,
        [DAT_EP_STATE_UNCONFIGURED_PASSIVE] =
            DAT_INVALID_STATE_EP_UNCONFPASSIVE,
        [DAT_EP_STATE_ACTIVE_CONNECTION_PENDING] =
            DAT_INVALID_STATE_EP_ACTCONNPENDING,
        [DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING] =
            DAT_INVALID_STATE_EP_TENTCONNPENDING,
        [DAT_EP_STATE_UNCONFIGURED_TENTATIVE] =
            DAT_INVALID_STATE_EP_UNCONFTENTATIVE,
        [DAT_EP_STATE_CONNECTED] = DAT_INVALID_STATE_EP_CONNECTED,
        [DAT_EP_STATE_DISCONNECT_PENDING] = DAT_INVALID_STATE_EP_DISCPENDING,
        [DAT_EP_STATE_DISCONNECTED] = DAT_INVALID_STATE_EP_DISCONNECTED,
        [DAT_EP_STATE_COMPLETION_PENDING] = DAT_INVALID_STATE_EP_COMPLPENDING,
        [DAT_EP_STATE_CONNECTED_MULTI_PATH] = DAT_INVALID_STATE_EP_CONNECTED,
    };
    return CORE_ERROR(DAT_INVALID_STATE, subtype[state]);
}

/* Without a PZ or an EVD for connection events an EP can't connect, nor with
 * an SRQ's receives that it could not tell of. */
static DAT_EP_STATE idle_state(const struct core_ep *ep)
{
    bool configured = ep->pz && ep->connect_evd && (!ep->srq || ep->recv_evd);
    if (ep->reserved)
        return configured ? DAT_EP_STATE_RESERVED
                          : DAT_EP_STATE_UNCONFIGURED_RESERVED;
    return configured ? DAT_EP_STATE_UNCONNECTED
                      : DAT_EP_STATE_UNCONFIGURED_UNCONNECTED;
}

void core_ep_set_idle(struct core_ep *ep)
{
    atomic_store(&ep->state, idle_state(ep));
}

void core_ep_unreserve(struct core_ep *ep)
{
    ep->reserved = false;
    core_ep_set_idle(ep);
}

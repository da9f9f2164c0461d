/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a connection, and its end. */
#include <stdlib.h>

#include "sim.h"

struct sim_conn *sim_conn_new(struct core_ep *ep, struct sim_conn *peer)
{
    struct sim_conn *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    uint64_t first = atomic_load(&ep->sq_tail);
    *c = (struct sim_conn){.refs = 1,
                           .ep = ep,
                           .ia = sim_ia(ep->o.ia),
                           .place = sim_ia(ep->o.ia)->place,
                           .peer = peer,
                           .landing = first,
                           .arrived = first,
                           .left = first,
                           .posted = first};
    if (peer)
        sim_conn_hold(peer);
    atomic_store(&ep->tp, c);
    return c;
}

void sim_conn_hold(struct sim_conn *c)
{
    c->refs++;
}

/* The two ends keep each other alive until both have ended. */
void sim_conn_drop(struct sim_conn *c)
{
    if (!--c->refs)
        free(c);
}

static void part(struct sim_conn *c)
{
    struct sim_conn *peer = c->peer;
    c->peer = NULL;
    if (peer)
        sim_conn_drop(peer);
}

static void end_here(struct sim_conn *c, DAT_EVENT_NUMBER event)
{
    c->ended = true;
    if (c->ep)
        core_ep_disconnected(c->ep, event, NULL, 0);
    sim_ia_notify(c->ia);
}

static void peer_ended(void *arg)
{
    struct sim_conn *c = arg;
    if (!c->ended) {
        core_ia_lock(c->ia->ia);
        end_here(c, c->broken ? DAT_CONNECTION_EVENT_BROKEN
                              : DAT_CONNECTION_EVENT_DISCONNECTED);
        core_ia_unlock(c->ia->ia);
    }
    part(c);
    sim_conn_drop(c);
}

void sim_conn_end(struct sim_conn *c, DAT_EVENT_NUMBER event)
{
    if (c->ended)
        return;
    if (c->peer) {
        c->peer->broken |= event == DAT_CONNECTION_EVENT_BROKEN;
        sim_conn_hold(c->peer);
        sim_after(c->ia->rail->latency, peer_ended, c->peer);
    }
    end_here(c, event);
    part(c);
}

void sim_conn_idle(struct sim_conn *c)
{
    if (!c->closing || c->ended)
        return;
    core_ia_lock(c->ia->ia);
    sim_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED);
    core_ia_unlock(c->ia->ia);
}

void sim_disconnect(struct core_ep *ep, bool graceful)
{
    struct sim_conn *c = sim_conn(ep);
    if (!graceful || !core_requests_pending(ep)) {
        sim_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED);
    } else {
        c->closing = true;
        atomic_store(&ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
    }
}

void sim_ep_release(struct core_ep *ep)
{
    struct sim_conn *c = sim_conn(ep);
    if (!c)
        return;
    c->ep = NULL;
    atomic_store(&ep->tp, NULL);
    sim_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED);
    sim_conn_drop(c);
}

static void break_now(void *arg)
{
    struct sim_conn *c = arg;
    if (!c->ended) { /* else the peer's IA may be closed */
        core_ia_lock(c->ia->ia);
        sim_conn_end(c, DAT_CONNECTION_EVENT_BROKEN);
        core_ia_unlock(c->ia->ia);
    }
    sim_conn_drop(c);
}

void sim_abort(struct core_ep *ep)
{
    struct sim_conn *c = sim_conn(ep);
    if (!c || c->broken)
        return;
    c->broken = true;
    sim_conn_hold(c);
    sim_after(0, break_now, c);
}

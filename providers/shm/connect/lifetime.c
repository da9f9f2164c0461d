/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection from its first attempt to its end. Everything here is under
 * ia->lock.
 *
 * A socket stays open, though shut down, until its EP is reset or freed: so
 * shm_abort may use it from any thread.
 */
#include <sys/socket.h>
#include <unistd.h>

#include "providers/shm/connect/lifetime.h"
#include "providers/shm/connect/pool.h"
#include "providers/shm/connect/watch.h"
#include "providers/shm/connect/wire.h"
#include "providers/shm/link_model/cable.h"
#include "providers/shm/memory/access.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/message/data.h"

struct shm_conn *shm_conn_new(struct shm_ia *sia, enum shm_conn_state state)
{
    struct shm_conn *c = shm_conn_take(state != SHM_CONN_CONNECTING);
    if (!c)
        return NULL;
    c->sia = sia;
    c->state = state;
    c->fd = c->segment_fd = -1;
    c->deadline = UINT64_MAX;
    c->ep_id = ++sia->last_ep_id;
    c->cuts = sia->cable ? atomic_load(&sia->cable->cuts) : 0;
    atomic_store(&c->timed, sia->clocks != NULL);
    c->next = sia->conns;
    sia->conns = c;
    return c;
}

void shm_conn_set_deadline(struct shm_conn *c, uint64_t ns)
{
    uint64_t now = busywait_now_ns();
    c->deadline = now + ns;
    if (c->sia->look_at > now)
        c->sia->look_at = now;
    shm_watch_wake(c->sia);
}

/* The kernel closes a dead peer's sockets, unless a child of the peer has them,
 * too: so its pidfd is watched as well. */
int shm_conn_find_peer(struct shm_conn *c, int control_fd)
{
    struct shm_ia *sia = c->sia;
    struct shm_peer *p = shm_peer_get(sia, shm_cm_peer_pid(c->fd), control_fd);
    if (p && p->users == 1 && p->pidfd >= 0)
        shm_watch_add(sia, p->pidfd, (struct shm_watch){.peer = p});
    c->peer = p;
    return p ? 0 : -1;
}

void shm_conn_forget_peer(struct shm_conn *c)
{
    if (!c->peer)
        return;
    if (c->peer->users == 1)
        shm_watch_remove(c->sia, c->peer->pidfd);
    shm_peer_put(c->sia, c->peer);
    c->peer = NULL;
}

static void dispose(struct shm_conn *c)
{
    shm_segment_unmap(c);
    shm_conn_forget_peer(c);
    shm_conn_give(c);
}

void shm_conn_free(struct shm_conn *c)
{
    struct shm_ia *sia = c->sia;
    struct shm_conn **at = &sia->conns;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    shm_watch_remove(sia, c->fd);
    if (c->fd >= 0)
        close(c->fd);
    shm_access_close(c);
    if (shm_access_inside(c, 0)) { /* shm_mr_withdraw must know of it */
        c->next = sia->leaving;
        sia->leaving = c;
    } else {
        dispose(c);
    }
}

void shm_conn_reap(struct shm_ia *sia)
{
    for (struct shm_conn **at = &sia->leaving, *c; (c = *at);)
        if (shm_access_inside(c, 0)) {
            at = &c->next;
        } else {
            *at = c->next;
            dispose(c);
        }
}

void shm_conn_free_all(struct shm_ia *sia)
{
    while (sia->conns)
        shm_conn_free(sia->conns);
    for (struct shm_conn *c; (c = sia->leaving);) {
        sia->leaving = c->next;
        dispose(c);
    }
}

void shm_conn_attach(struct shm_conn *c, struct core_ep *ep)
{
    c->ep = ep;
    atomic_store(&c->rq_base, atomic_load(&ep->rq_head));
    c->waiting = atomic_load(&ep->sq_tail);
    ep->tp = c;
}

void shm_conn_close(struct shm_conn *c)
{
    shm_watch_remove(c->sia, c->fd);
    if (c->fd >= 0)
        shutdown(c->fd, SHUT_RDWR);
    c->state = SHM_CONN_CLOSED;
    c->deadline = UINT64_MAX;
    shm_access_close(c);
}

/* What has arrived is delivered first. A message that comes later is not: its
 * sender sees `closed`, which is set before, and no longer counts on the
 * receives here. A peer that is in an access has been connected, so there are
 * no private data then. */
void shm_conn_end(struct shm_conn *c, DAT_EVENT_NUMBER event,
                  const void *private_data, DAT_COUNT size)
{
    shm_access_close(c);
    shm_progress(c->ep, true);
    shm_conn_close(c);
    if (!shm_access_awaited(c)) {
        core_ep_disconnected(c->ep, event, private_data, size);
        return;
    }
    atomic_store(&c->aborted, true);
    c->end = event;
    c->state = SHM_CONN_ENDING;
    shm_conn_set_deadline(c, 0);
}

void shm_conn_end_on(struct shm_conn *c)
{
    if (shm_access_awaited(c))
        return;
    c->state = SHM_CONN_CLOSED;
    c->deadline = UINT64_MAX;
    shm_progress(c->ep, true);
    core_ep_disconnected(c->ep, c->end, NULL, 0);
}

void shm_conn_established(struct shm_conn *c, const void *private_data,
                          DAT_COUNT size)
{
    c->state = SHM_CONN_CONNECTED;
    c->deadline = UINT64_MAX;
    if (core_ep_poll(c->ep)) {
        shm_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
        return;
    }
    core_ep_established(c->ep, private_data, size);
    shm_recv_publish(c);
}

/* The consumer may use its memory for something else after this, so it waits
 * for an access, but not with ia->lock held. */
void shm_ep_release(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    struct core_ia *ia = ep->o.ia;
    atomic_store(&((struct shm_ep *)core_ep_area(ep))->capacity, 0);
    if (!c)
        return;
    if (c->state == SHM_CONN_CONNECTED || c->state == SHM_CONN_DRAINING)
        shm_cm_send(c->fd, SHM_CM_DISCONNECT, 0, 0, NULL, 0, NULL, 0);
    bool has_ended = c->state == SHM_CONN_CLOSED;
    shm_conn_close(c);
    while (!has_ended && shm_access_awaited(c))
        core_ia_nap(ia);
    core_ep_lock(ep); /* a poller of the IA may be inside */
    ep->tp = NULL;
    core_ep_unlock(ep);
    shm_conn_free(c);
}

void shm_set_bells(struct core_ep *ep, uint64_t bells)
{
    core_ep_lock(ep); /* it may be released meanwhile */
    struct shm_conn *c = ep->tp;
    if (c && c->segment)
        atomic_store(&c->rx->bells, bells);
    core_ep_unlock(ep);
}

void shm_disconnect(struct core_ep *ep, bool graceful)
{
    struct shm_conn *c = ep->tp;
    bool connected =
        c->state == SHM_CONN_CONNECTED || c->state == SHM_CONN_DRAINING;
    if (connected && graceful) {
        shm_progress(ep, true);
        if (core_requests_pending(ep) && !shm_waits_in_vain(ep)) {
            if (c->state != SHM_CONN_DRAINING)
                shm_watch_wake(c->sia);
            c->state = SHM_CONN_DRAINING;
            c->deadline = 0;
            atomic_store(&ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
            return;
        }
    }
    if (connected || c->state == SHM_CONN_ACCEPTED)
        shm_cm_send(c->fd, SHM_CM_DISCONNECT, 0, 0, NULL, 0, NULL, 0);
    if (c->state != SHM_CONN_ENDING)
        shm_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
    if (c->state == SHM_CONN_ENDING &&
        core_ep_state(ep) == DAT_EP_STATE_CONNECTED)
        atomic_store(&ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a connection, and its end.
 *
 * TCP reports that a peer has closed its socket, not why. So a side that
 * disconnects says so first (OFI_BYE); without that, the connection is broken.
 * libfabric reads in order: a message without a receive hides the end of the
 * connection from it. Then the socket shows the end (ofi_conn_look).
 *
 * The passive side is connected when the active side has confirmed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ofi.h"

#define NEVER     UINT64_MAX
#define MS        1000000u
#define LINGER_NS 10000000000u /* for sent data to be acknowledged */
#define TAKEN_NS  1000000000u  /* for the peer to read what has arrived */
#define RETRY_NS  MS           /* between looks without an event */
#define GRACE_NS  (100 * MS)   /* for libfabric to read an end that is due */

/* ------------------------------------------------------ birth and death --- */

/* A number that no other connection has, and that the last connection in its
 * place did not have. */
static uint32_t new_id(struct ofi_ia *oia)
{
    for (unsigned i = 0; i < OFI_MAX_EPS; i++) {
        uint32_t id = ++oia->last_id;
        if (!oia->by_id[id % OFI_MAX_EPS])
            return id;
    }
    return 0;
}

struct ofi_conn *ofi_conn_new(struct ofi_ia *oia, enum ofi_state state)
{
    uint32_t id = new_id(oia);
    struct ofi_conn *c = id ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->oia = oia;
    c->state = state;
    c->id = id;
    c->deadline = c->look = NEVER;
    c->held = OFI_NONE_HELD;
    c->begun = busywait_now_ns();
    c->fd = -1;
    c->receive = (struct ofi_op){c, OFI_RECEIVE};
    c->early_end = &c->early;
    c->next = oia->conns;
    oia->conns = c;
    pthread_mutex_lock(&oia->cq_lock);
    oia->by_id[id % OFI_MAX_EPS] = c;
    pthread_mutex_unlock(&oia->cq_lock);
    return c;
}

static int hand_receives(struct ofi_conn *c)
{
    struct core_ep *ep = c->ep;
    uint64_t end = atomic_load(&ep->rq_tail);
    int err = 0;
    for (uint64_t at = atomic_load(&ep->rq_head); !err && at != end; at++)
        err = ofi_recv_hand(c, core_recv_at(ep, at));
    return err;
}

int ofi_conn_attach(struct ofi_conn *c, struct core_ep *ep,
                    struct fi_info *info)
{
    struct ofi_ia *oia = c->oia;
    struct fid_ep *fid = NULL;
    info->rx_attr->size = (size_t)ep->attr.max_recv_dtos + 1;
    int err = fi_endpoint(oia->domain, info, &fid, c);
    if (!err)
        err = fi_ep_bind(fid, &oia->eq->fid, 0);
    if (!err)
        err = fi_ep_bind(fid, &oia->cq->fid,
                         FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
    if (!err)
        err = fi_ep_bind(fid, &oia->cq->fid, FI_RECV);
    if (!err)
        err = fi_enable(fid);
    c->ep = ep;
    core_ep_lock(ep);
    c->fid = fid;
    c->next_request = atomic_load(&ep->sq_tail);
    atomic_store(&ep->tp, c);
    if (!err)
        err = hand_receives(c);
    core_ep_unlock(ep);
    atomic_fetch_add(&oia->open_conns, !!fid);
    c->guess = ofi_socket_next();
    return err;
}

/* The most requests and receives that the CQ can hold: a reader that has read
 * so many has read all that were there when it began, whatever other
 * connections add meanwhile. */
static size_t unread_most(const struct ofi_ia *oia)
{
    size_t most = 0;
    for (const struct ofi_conn *c = oia->conns; c; c = c->next)
        if (c->fid) /* an RDMA write with immediate data is two requests */
            most += 2 * (size_t)c->ep->attr.max_request_dtos + OFI_MARKERS +
                    (size_t)c->ep->attr.max_recv_dtos;
    return most;
}

static bool is_reading(struct ofi_conn *c)
{
    core_ep_lock(c->ep);
    bool any = c->reads;
    core_ep_unlock(c->ep);
    return any;
}

/* A defect of libfabric's tcp (1.17; cured later): if an endpoint is closed
 * while the answer to a read arrives, it frees the read's state twice. That
 * state then serves two requests at once, of any endpoint, and data go astray.
 * An endpoint that finds the end by itself does not do so. */
static void end_reads(struct ofi_conn *c, size_t most)
{
    size_t unread;
    if (c->fd < 0 || !is_reading(c))
        return;
    shutdown(c->fd, SHUT_RDWR);
    do {
        unread = ofi_socket_unread(c->fd);
        ofi_drain_most(c->oia, most);
    } while (ofi_socket_unread(c->fd) != unread);
}

/* Delivers what has arrived, which libfabric has acknowledged, also if the
 * connection ends before it is established. Afterwards libfabric does not touch
 * the consumer's memory. */
static void close_endpoint(struct ofi_conn *c)
{
    struct ofi_ia *oia = c->oia;
    if (!c->fid)
        return;
    size_t most = unread_most(oia);
    core_ep_lock(c->ep);
    c->open = false;
    core_ep_unlock(c->ep);
    pthread_mutex_lock(&oia->cq_lock);
    ofi_bursts_end(oia);
    end_reads(c, most);
    ofi_drain_most(oia, most);
    core_ep_lock(c->ep);
    ofi_receive_early(c);
    struct fid_ep *fid = c->fid;
    c->fid = NULL;
    c->live = false;
    core_ep_unlock(c->ep);
    fi_close(&fid->fid);
    ofi_drain_most(oia, most); /* its completions there name the connection */
    pthread_mutex_unlock(&oia->cq_lock);
    /* completions of others may have been signalled already */
    ofi_nudge(oia);
    ofi_thread_wake(oia);
    c->fd = -1;
    atomic_fetch_sub(&oia->open_conns, 1);
}

void ofi_conn_end(struct ofi_conn *c, DAT_EVENT_NUMBER event,
                  const void *private_data, DAT_COUNT size)
{
    close_endpoint(c);
    c->state = OFI_CLOSED;
    c->deadline = c->look = NEVER;
    core_ep_disconnected(c->ep, event, private_data, size);
}

void ofi_conn_free(struct ofi_conn *c)
{
    struct ofi_ia *oia = c->oia;
    struct ofi_conn **at = &oia->conns;
    if (c->ep && !oia->ia->forked)
        close_endpoint(c);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    pthread_mutex_lock(&oia->cq_lock);
    oia->by_id[c->id % OFI_MAX_EPS] = NULL;
    pthread_mutex_unlock(&oia->cq_lock);
    if (c->info)
        fi_freeinfo(c->info);
    for (struct ofi_early *e; (e = c->early);) {
        c->early = e->next;
        free(e);
    }
    free(c->wire);
    free(c);
}

void ofi_conn_established(struct ofi_conn *c, const void *private_data,
                          DAT_COUNT size)
{
    struct core_ep *ep = c->ep;
    c->state = OFI_CONNECTED;
    c->deadline = NEVER;
    if (c->fd < 0)
        c->fd = ofi_socket_find(c->fid, c->guess);
    if (core_ep_poll(ep)) {
        ofi_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
        return;
    }
    core_ep_lock(ep);
    c->open = true;
    core_ep_unlock(ep);
    core_ep_established(ep, private_data, size);
    core_ep_lock(ep);
    c->live = true;
    ofi_receive_early(c);
    core_ep_unlock(ep);
    c->answered = busywait_now_ns();
    c->look = c->oia->params.silence_ms && c->fd >= 0 ? 0 : NEVER;
    ofi_thread_watch(c);
    ofi_thread_wake(c->oia);
}

/* ---------------------------------------------------------- ending it --- */

void ofi_conn_say(struct ofi_conn *c, uint64_t what)
{
    if (!c->oia->talks)
        return;
    core_ep_lock(c->ep);
    if (c->fid)
        ofi_say(c, what);
    core_ep_unlock(c->ep);
}

static DAT_EVENT_NUMBER why(const struct ofi_conn *c)
{
    if (!c->oia->talks && !atomic_load(&c->failed))
        return DAT_CONNECTION_EVENT_DISCONNECTED;
    return atomic_load(&c->bye) ? DAT_CONNECTION_EVENT_DISCONNECTED
                                : DAT_CONNECTION_EVENT_BROKEN;
}

/* OFI_BYE may have arrived just before the end, and acknowledged messages
 * before it. */
static void look_confirmed(struct ofi_conn *c)
{
    if (c->state == OFI_ACCEPTED && atomic_load(&c->confirmed))
        ofi_conn_established(c, NULL, 0);
}

void ofi_conn_ended(struct ofi_conn *c)
{
    ofi_advance(c->oia, true); /* control messages may be among them */
    look_confirmed(c);
    switch (c->state) {
    case OFI_CONNECTING:
        ofi_conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        break;
    case OFI_ACCEPTED:
        ofi_conn_end(c, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, NULL, 0);
        break;
    case OFI_CONNECTED:
    case OFI_DRAINING:
        ofi_conn_end(c, why(c), NULL, 0);
        break;
    case OFI_LEAVING:
        ofi_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
        break;
    case OFI_OFFERED:
    case OFI_CLOSED:
        break;
    }
}

/* The requests are complete: sends OFI_BYE, and waits until the peer's system
 * has all data, because a socket closed earlier would discard them. */
static void leave(struct ofi_conn *c)
{
    ofi_conn_say(c, OFI_BYE);
    if (c->fd < 0) {
        ofi_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
        return;
    }
    c->state = OFI_LEAVING;
    c->deadline = busywait_now_ns() + LINGER_NS;
    c->look = 0;
}

/* Says that this side disconnects, if the peer may be connected. Before the
 * answer, the message would be taken for it. */
static void say_bye(struct ofi_conn *c)
{
    if (c->state == OFI_CONNECTED || c->state == OFI_DRAINING ||
        (c->state == OFI_ACCEPTED && c->replied))
        ofi_conn_say(c, OFI_BYE);
}

void ofi_disconnect(struct core_ep *ep, bool graceful)
{
    struct ofi_conn *c = ep->tp;
    bool connected = c->state >= OFI_CONNECTED && c->state <= OFI_LEAVING;
    if (connected && graceful) {
        atomic_store(&ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
        if (c->state == OFI_CONNECTED) {
            c->state = OFI_DRAINING;
            c->look = 0;
        }
        ofi_conn_look(c, busywait_now_ns());
        ofi_thread_wake(c->oia);
        return;
    }
    say_bye(c);
    ofi_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

void ofi_ep_release(struct core_ep *ep)
{
    struct ofi_conn *c = ep->tp;
    if (!c)
        return;
    say_bye(c);
    core_ep_lock(ep);
    atomic_store(&ep->tp, NULL);
    core_ep_unlock(ep);
    ofi_conn_free(c);
}

void ofi_abort(struct core_ep *ep)
{
    struct ofi_conn *c = ep->tp;
    if (c && !atomic_exchange(&c->aborted, true))
        ofi_thread_wake(c->oia);
}

/* ---------------------------------------------------------- the thread --- */

void ofi_conn_mind(struct ofi_conn *c, uint64_t ns)
{
    uint64_t now = busywait_now_ns();
    c->deadline = now + ns;
    if (c->oia->look_at > now)
        c->oia->look_at = now;
    ofi_thread_wake(c->oia);
}

static void on_deadline(struct ofi_conn *c)
{
    if (c->state == OFI_CONNECTING)
        ofi_conn_end(c, DAT_CONNECTION_EVENT_TIMED_OUT, NULL, 0);
    else if (c->state == OFI_DRAINING && !atomic_load(&c->failed))
        leave(c);
    else
        ofi_conn_ended(c);
}

/* If the path is cut, the peer's system does not answer. If this process looks
 * late because it was stopped, the silence meanwhile does not count. */
static void look_silence(struct ofi_conn *c, uint64_t now)
{
    uint64_t limit = (uint64_t)c->oia->params.silence_ms * MS;
    uint64_t every = limit / 4;
    if (c->look && now > c->look + every)
        c->answered += now - c->look;
    if (!ofi_socket_owed(c->fd, (unsigned)(every / MS)))
        c->answered = now;
    if (now - c->answered > limit)
        ofi_conn_ended(c);
    else
        c->look = now + every;
}

/* a message without a receive stays unread: bound the wait for it */
static void look_draining(struct ofi_conn *c, uint64_t now)
{
    if (c->fd < 0 || is_reading(c) || ofi_socket_unsent(c->fd))
        c->deadline = NEVER;
    else if (c->deadline == NEVER)
        c->deadline = now + TAKEN_NS;
    if (!core_requests_pending(c->ep))
        leave(c);
}

static void look_graceful(struct ofi_conn *c, uint64_t now)
{
    c->look = now + RETRY_NS;
    ofi_advance(c->oia, true);
    if (c->state == OFI_DRAINING)
        look_draining(c, now);
    if (c->state == OFI_LEAVING && !ofi_socket_unsent(c->fd))
        ofi_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

/* The network has failed, or the peer has closed its socket. libfabric reports
 * that when it has read what arrived before. If a message without a receive
 * blocks it, it never does. */
static void look_failed(struct ofi_conn *c, uint64_t now)
{
    size_t unread = ofi_socket_unread(c->fd);
    c->look = now + RETRY_NS;
    if (c->deadline != NEVER && c->unread == unread)
        return;
    c->unread = unread;
    c->deadline = now + GRACE_NS;
}

static void look_at(struct ofi_conn *c, uint64_t now)
{
    bool connected = c->state >= OFI_CONNECTED && c->state <= OFI_LEAVING;
    if (atomic_load(&c->aborted) && connected)
        ofi_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    else if (connected && !atomic_load(&c->oia->link_up))
        ofi_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    else if (atomic_load(&c->failed) && connected && c->state != OFI_LEAVING)
        look_failed(c, now);
    else if (c->state == OFI_DRAINING || c->state == OFI_LEAVING)
        look_graceful(c, now);
    else if (c->look <= now)
        look_silence(c, now);
    if (c->state == OFI_CONNECTED && c->stuck) {
        core_ep_lock(c->ep);
        ofi_issue(c);
        core_ep_unlock(c->ep);
        c->look = now + RETRY_NS;
    }
}

uint64_t ofi_conn_look(struct ofi_conn *c, uint64_t now)
{
    look_confirmed(c);
    if (c->deadline <= now)
        on_deadline(c);
    else
        look_at(c, now);
    return c->look < c->deadline ? c->look : c->deadline;
}

/* The parent has the socket, too: the child closes it without shutting it down.
 * libfabric's objects stay: freeing them would affect the parent. */
void ofi_conn_forked(struct ofi_conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fid = NULL;
    c->fd = -1;
    c->open = c->live = false;
    c->state = OFI_CLOSED;
    c->deadline = c->look = NEVER;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: their life, and how they end.
 *
 * TCP says that a peer has closed, not why. So who disconnects says so before;
 * without that word the connection is broken. What is in the way unreceived
 * hides the end from libfabric, which reads in order; then it is the socket
 * that tells (ofi_conn_look).
 *
 * The passive side is connected when the active one has confirmed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ofi.h"

#define NEVER     UINT64_MAX
#define MS        1000000u
#define LINGER_NS 10000000000u /* for what was sent to be acknowledged */
#define TAKEN_NS  1000000000u  /* for the peer to take what its system has */
#define RETRY_NS  MS           /* looks at what nobody tells of */
#define GRACE_NS  (100 * MS)   /* for the end to be read where it is due */

/* ------------------------------------------------------ birth and death --- */

/* A number that no other connection has, and the last one of its place had
 * not. */
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
    c->begun = busywait_now_ns();
    c->fd = -1;
    c->receive = (struct ofi_op){c, true};
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

/* Requests and receives that the CQ can name at most: who has read so many has
 * read those of this moment, whatever other connections bring meanwhile. */
static size_t unread_most(const struct ofi_ia *oia)
{
    size_t most = 0;
    for (const struct ofi_conn *c = oia->conns; c; c = c->next)
        if (c->fid) /* with an RDMA write of immediate data, a request is two */
            most += 2 * (size_t)c->ep->attr.max_request_dtos +
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

/* An endpoint of libfabric's tcp that is closed while the answer to a read
 * comes in gives back what it has of that read twice (1.17; cured later), and
 * then it is given to two requests at once, of any endpoint: data go astray.
 * One that finds the end by itself does not. */
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

/* What has arrived is delivered: libfabric has acknowledged it. From here on it
 * does not touch the consumer's memory. */
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
    end_reads(c, most);
    ofi_drain_most(oia, most);
    core_ep_lock(c->ep);
    struct fid_ep *fid = c->fid;
    c->fid = NULL;
    c->live = false;
    core_ep_unlock(c->ep);
    fi_close(&fid->fid);
    ofi_drain_most(oia, most); /* what it left there names the connection */
    pthread_mutex_unlock(&oia->cq_lock);
    /* what is left there for others may have been signalled already */
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

/* The word may have come just before the end, and messages behind it, which are
 * acknowledged. */
static void look_confirmed(struct ofi_conn *c)
{
    if (c->state == OFI_ACCEPTED && atomic_load(&c->confirmed))
        ofi_conn_established(c, NULL, 0);
}

void ofi_conn_ended(struct ofi_conn *c)
{
    ofi_advance(c->oia, true); /* words may be among what it reads */
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

/* The requests are done: says goodbye, and waits until the peer's system has
 * it all, for a socket that is closed early takes it back. */
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
    if (connected && c->state != OFI_LEAVING)
        ofi_conn_say(c, OFI_BYE);
    ofi_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

void ofi_ep_release(struct core_ep *ep)
{
    struct ofi_conn *c = ep->tp;
    if (!c)
        return;
    if (c->state == OFI_CONNECTED || c->state == OFI_DRAINING)
        ofi_conn_say(c, OFI_BYE);
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

/* A dead way is found by the peer's system not answering. Who looks late was
 * stopped himself: what he has not heard meanwhile is no silence. */
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

/* What has no receive there is not taken: that is not waited for for ever. */
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

/* The network has failed, or the peer has closed its end: libfabric will say so
 * when it has read what came before. If that is stuck, as nobody has posted a
 * receive, nothing will come of it. */
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

/* The socket is the parent's, too: it is let go of, not shut down. What
 * libfabric has of it stays: to give it back would be felt there. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager: one thread per IA that listens or connects, asleep
 * but for connection set-up, disconnection and the death of a peer, which the
 * kernel reports as the end of its socket. Everything here is under ia->lock;
 * the data path is not involved.
 *
 *   active                         passive
 *   connect, REQUEST ------------> CR event
 *            <------------- ACCEPT dat_cr_accept
 *   ESTABLISHED, CONFIRM --------> ESTABLISHED
 *
 * The passive side does not wait for ever: it says LATE and lets go, and the
 * active one, which had no time to hear of it, asks again, as long as its
 * consumer is patient.
 *
 * A socket stays open, though shut down, until its EP is reset or freed: so
 * shm_abort (conn.c) may use it from any thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "access.h"
#include "providers/core/still.h"

#define RETRY_NS     1000000u /* full backlog, draining */
#define LONGEST_MS   3600000
#define HANDSHAKE_NS 10000000000u /* for the peer's manager to answer */
#define LINGER_NS    10000000000u /* for the link model to deliver */

/* ----------------------------------------------------- thread and fds --- */

static void *cm_thread(void *arg);

static int watch_fd(struct shm_ia *sia, int fd, struct shm_watch what)
{
    if (fd >= sia->watch_size) {
        int size = fd + 64;
        struct shm_watch *w =
            realloc(sia->watch, (size_t)size * sizeof *sia->watch);
        if (!w)
            return -1;
        memset(w + sia->watch_size, 0,
               (size_t)(size - sia->watch_size) * sizeof *w);
        sia->watch = w;
        sia->watch_size = size;
    }
    sia->watch[fd] = what;
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(sia->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

static void set_events(struct shm_ia *sia, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.fd = fd};
    epoll_ctl(sia->epoll_fd, EPOLL_CTL_MOD, fd, &e);
}

static void unwatch_fd(struct shm_ia *sia, int fd)
{
    if (fd < 0 || fd >= sia->watch_size)
        return;
    epoll_ctl(sia->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    sia->watch[fd] = (struct shm_watch){0};
}

static void cm_wake(struct shm_ia *sia)
{
    uint64_t one = 1;
    while (write(sia->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static int cm_start(struct shm_ia *sia)
{
    if (sia->thread_runs)
        return 0;
    if (sia->epoll_fd < 0)
        sia->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (sia->wake_fd < 0)
        sia->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (sia->epoll_fd < 0 || sia->wake_fd < 0)
        return -1;
    struct epoll_event e = {.events = EPOLLIN, .data.fd = sia->wake_fd};
    if (epoll_ctl(sia->epoll_fd, EPOLL_CTL_ADD, sia->wake_fd, &e) &&
        errno != EEXIST)
        return -1;
    e.data.fd = sia->cable_fd;
    if (sia->cable &&
        epoll_ctl(sia->epoll_fd, EPOLL_CTL_ADD, sia->cable_fd, &e) &&
        errno != EEXIST)
        return -1;
    /* the consumer's signals are none of this thread's business */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    sia->thread_runs = !pthread_create(&sia->thread, NULL, cm_thread, sia);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return sia->thread_runs ? 0 : -1;
}

/* So much time; from now on, the thread minds it. */
static void mind(struct shm_conn *c, uint64_t ns)
{
    uint64_t now = shm_now_ns();
    c->deadline = now + ns;
    if (c->sia->look_at > now)
        c->sia->look_at = now;
    cm_wake(c->sia);
}

static void conn_free(struct shm_conn *c);
/* The death of a peer is the end of its sockets, unless a child of its has
 * them, too. */
static struct shm_peer *peer_get(struct shm_ia *sia, int fd, int control_fd)
{
    struct shm_peer *p = shm_peer_get(sia, shm_cm_peer_pid(fd), control_fd);
    if (p && p->users == 1 && p->pidfd >= 0)
        watch_fd(sia, p->pidfd, (struct shm_watch){.peer = p});
    return p;
}

static void peer_put(struct shm_ia *sia, struct shm_peer *peer)
{
    if (peer->users == 1)
        unwatch_fd(sia, peer->pidfd);
    shm_peer_put(sia, peer);
}

static void conn_dispose(struct shm_conn *c);

void shm_cm_stop(struct shm_ia *sia)
{
    if (sia->thread_runs) {
        core_ia_lock(sia->ia);
        sia->stop = true;
        core_ia_unlock(sia->ia);
        cm_wake(sia);
        pthread_join(sia->thread, NULL);
    }
    while (sia->conns)
        conn_free(sia->conns);
    for (struct shm_conn *c; (c = sia->leaving);) {
        sia->leaving = c->next;
        conn_dispose(c);
    }
    if (sia->epoll_fd >= 0)
        close(sia->epoll_fd);
    if (sia->wake_fd >= 0)
        close(sia->wake_fd);
    free(sia->watch);
}

/* Sockets and the epoll set are the parent's, too: none of them is shut down
 * or changed. */
void shm_cm_forked(struct shm_ia *sia)
{
    int *const own[] = {&sia->epoll_fd, &sia->wake_fd, &sia->cable_fd};
    for (int i = 0; i < 3; i++) {
        if (*own[i] >= 0)
            close(*own[i]);
        *own[i] = -1;
    }
    sia->thread_runs = false;
    for (int fd = 0; fd < sia->watch_size; fd++) {
        if (sia->watch[fd].listener) {
            close(fd);
            sia->watch[fd].listener->fd = -1;
        }
        sia->watch[fd] = (struct shm_watch){0};
    }
    for (struct shm_conn *c = sia->conns; c; c = c->next) {
        if (c->fd >= 0)
            close(c->fd);
        c->fd = -1;
        c->state = SHM_CM_CLOSED;
        c->deadline = UINT64_MAX;
        atomic_store(&c->aborted, true);
        c->deaf = true;
        shm_segment_unmap(c);
    }
    for (struct shm_conn *c = sia->leaving; c; c = c->next)
        shm_segment_unmap(c);
    for (struct shm_peer *p = sia->peers; p; p = p->next)
        shm_peer_forked(p);
}

/* --------------------------------------------------------- connections --- */

static struct shm_conn *conn_new(struct shm_ia *sia, enum shm_cm_state state)
{
    struct shm_conn *c = shm_conn_take(state != SHM_CM_CONNECTING);
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

static void conn_dispose(struct shm_conn *c)
{
    shm_segment_unmap(c);
    if (c->peer)
        peer_put(c->sia, c->peer);
    shm_conn_give(c);
}

static void conn_free(struct shm_conn *c)
{
    struct shm_ia *sia = c->sia;
    struct shm_conn **at = &sia->conns;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    unwatch_fd(sia, c->fd);
    if (c->fd >= 0)
        close(c->fd);
    shm_access_close(c);
    if (shm_access_inside(c, 0)) { /* shm_mr_withdraw must know of it */
        c->next = sia->leaving;
        sia->leaving = c;
    } else {
        conn_dispose(c);
    }
}

void shm_cm_reap(struct shm_ia *sia)
{
    for (struct shm_conn **at = &sia->leaving, *c; (c = *at);)
        if (shm_access_inside(c, 0)) {
            at = &c->next;
        } else {
            *at = c->next;
            conn_dispose(c);
        }
}

static void attach(struct shm_conn *c, struct core_ep *ep)
{
    c->ep = ep;
    c->rq_base = atomic_load(&ep->rq_head);
    c->waiting = atomic_load(&ep->sq_tail);
    ep->tp = c;
}

/* No more of this connection: the peer sees the end of the socket. */
static void conn_close(struct shm_conn *c)
{
    unwatch_fd(c->sia, c->fd);
    if (c->fd >= 0)
        shutdown(c->fd, SHUT_RDWR);
    c->state = SHM_CM_CLOSED;
    c->deadline = UINT64_MAX;
    shm_access_close(c);
}

/* Ends it and tells the consumer. What has arrived is delivered first; what
 * comes after that look is not: then its sender sees `closed`, which is set
 * before, and does not count on our receives any more. */
static void conn_end(struct shm_conn *c, DAT_EVENT_NUMBER event,
                     const void *private_data, DAT_COUNT size)
{
    if (c->state >= SHM_CM_CONNECTED && c->state <= SHM_CM_LINGERING) {
        shm_access_close(c);
        shm_progress(c->ep, true);
    }
    conn_close(c);
    core_ep_disconnected(c->ep, event, private_data, size);
}

static void conn_established(struct shm_conn *c, const void *private_data,
                             DAT_COUNT size)
{
    c->state = SHM_CM_CONNECTED;
    c->deadline = UINT64_MAX;
    if (core_ep_poll(c->ep)) {
        conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
        return;
    }
    core_ep_established(c->ep, private_data, size);
    shm_recv_announce(c);
}

void shm_ep_release(struct core_ep *ep)
{
    struct shm_conn *c = ep->tp;
    atomic_store(&((struct shm_ep *)core_ep_area(ep))->capacity, 0);
    if (!c)
        return;
    if (c->state == SHM_CM_CONNECTED || c->state == SHM_CM_DRAINING)
        shm_cm_send(c->fd, SHM_CM_DISCONNECT, 0, 0, NULL, 0, NULL, 0);
    conn_close(c);
    core_ep_lock(ep); /* a poller of the IA may be inside */
    ep->tp = NULL;
    core_ep_unlock(ep);
    conn_free(c);
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
        c->state == SHM_CM_CONNECTED || c->state == SHM_CM_DRAINING;
    if (connected && graceful) {
        shm_progress(ep, true);
        if (core_requests_pending(ep) && !shm_waits_in_vain(ep)) {
            if (c->state != SHM_CM_DRAINING)
                cm_wake(c->sia);
            c->state = SHM_CM_DRAINING;
            c->deadline = 0;
            atomic_store(&ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
            return;
        }
    }
    if (connected || c->state == SHM_CM_ACCEPTED)
        shm_cm_send(c->fd, SHM_CM_DISCONNECT, 0, 0, NULL, 0, NULL, 0);
    conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
}

/* ---------------------------------------------------------- active side --- */

/* Rails have addresses of their own; another address of the host stands for
 * the rail of the same address as ours. */
static uint32_t service_address(const struct shm_conn *c)
{
    const struct sockaddr_storage remote = core_ep_remote(c->ep);
    uint32_t rail = shm_cm_rail(&remote);
    return rail ? rail : shm_cm_rail(&c->sia->ia->address);
}

/* Reaches for the peer's service point, now or (full backlog) later. */
static void try_connect(struct shm_conn *c)
{
    struct shm_ia *sia = c->sia;
    struct core_ep *ep = c->ep;
    int err = shm_cm_connect(c->fd, service_address(c), ep->remote_qual);
    if (err == -EAGAIN)
        return;
    int fds[SHM_CM_FDS] = {c->segment_fd, sia->control_fd};
    /* of a socket that has ended, its manager learns why */
    if (err || shm_cm_peer_pid(c->fd) < 0 ||
        watch_fd(sia, c->fd, (struct shm_watch){.conn = c}) ||
        (shm_cm_send(c->fd, SHM_CM_REQUEST, ep->pz->id, c->ep_id,
                     c->private_data, c->private_size, fds, SHM_CM_FDS) &&
         errno != EPIPE)) {
        conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        return;
    }
    c->state = SHM_CM_REQUESTED;
}

DAT_RETURN shm_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data)
{
    struct shm_ia *sia = shm_ia(ep->o.ia);
    const struct sockaddr_storage remote = core_ep_remote(ep);
    int local = shm_cm_is_local(&remote);
    struct shm_conn *c = conn_new(sia, SHM_CM_CONNECTING);
    if (!c || local < 0 || shm_segment_create(c) || cm_start(sia) ||
        (c->fd = shm_cm_socket()) < 0) {
        if (c)
            conn_free(c);
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    }
    attach(c, ep);
    c->private_size = size;
    if (size)
        memcpy(c->private_data, private_data, (size_t)size);
    if (timeout_us != UINT64_MAX)
        mind(c, timeout_us * 1000);
    if (shm_cable_pulled(sia) || !local) {
        conn_end(c, DAT_CONNECTION_EVENT_UNREACHABLE, NULL, 0);
        return DAT_SUCCESS;
    }
    try_connect(c);
    if (timeout_us == UINT64_MAX) /* else it is awake already */
        cm_wake(sia);             /* there may be a retry to mind */
    return DAT_SUCCESS;
}

static void on_accept(struct shm_conn *c, const struct shm_cm_msg *msg,
                      const int *fds)
{
    c->peer = peer_get(c->sia, c->fd, fds[0]);
    c->peer_pz_id = msg->pz_id;
    c->peer_ep_id = msg->ep_id;
    if (!c->peer) {
        conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        return;
    }
    shm_segment_agree(c);
    if (shm_cm_send(c->fd, SHM_CM_CONFIRM, 0, 0, NULL, 0, NULL, 0)) {
        bool ended = errno == EPIPE; /* why, comes next */
        peer_put(c->sia, c->peer);
        c->peer = NULL;
        if (!ended)
            conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        return;
    }
    conn_established(c, msg->private_data, (DAT_COUNT)msg->private_size);
}

/* Another socket, of the same number: shm_abort may be using it. Another
 * segment, too: the peer has closed its side of this one. */
static int conn_begin_again(struct shm_conn *c)
{
    int fd = shm_cm_socket();
    int err = fd < 0 || dup3(fd, c->fd, O_CLOEXEC) < 0;
    if (fd >= 0)
        close(fd);
    shm_segment_unmap(c);
    return err || shm_segment_create(c);
}

/* The peer waited in vain for what this manager had no time to do. */
static void on_late(struct shm_conn *c)
{
    unwatch_fd(c->sia, c->fd);
    if (conn_begin_again(c) || atomic_load(&c->aborted))
        conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
    else
        c->state = SHM_CM_CONNECTING; /* now, by timers() */
}

/* --------------------------------------------------------- passive side --- */

DAT_RETURN shm_listen(struct core_sp *sp)
{
    struct shm_ia *sia = shm_ia(sp->o.ia);
    struct shm_listener *l = calloc(1, sizeof *l);
    int err = -ENOMEM;
    if (!l || cm_start(sia))
        goto fail;
    l->sp = sp;
    l->fd = shm_cm_socket();
    err = l->fd < 0
              ? -errno
              : shm_cm_bind(l->fd, shm_cm_rail(&sp->o.ia->address), sp->qual);
    if (!err && watch_fd(sia, l->fd, (struct shm_watch){.listener = l}))
        err = -errno;
    if (err) {
        if (l->fd >= 0)
            close(l->fd);
        goto fail;
    }
    sp->tp = l;
    return DAT_SUCCESS;
fail:
    free(l);
    if (err == -EADDRINUSE)
        return CORE_ERROR(DAT_CONN_QUAL_IN_USE, 0);
    return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
}

void shm_unlisten(struct core_sp *sp)
{
    struct shm_ia *sia = shm_ia(sp->o.ia);
    struct shm_listener *l = sp->tp;
    for (struct shm_conn *c = sia->conns, *next; c; c = next) {
        next = c->next;
        if (c->sp == sp && c->state == SHM_CM_ARRIVING)
            conn_free(c);
        else if (c->sp == sp)
            c->sp = NULL;
    }
    unwatch_fd(sia, l->fd);
    if (l->fd >= 0)
        close(l->fd);
    free(l);
}

static void on_listener(struct shm_ia *sia, struct shm_listener *l)
{
    int fd;
    while ((fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
           0) {
        struct shm_conn *c = conn_new(sia, SHM_CM_ARRIVING);
        if (!c) {
            close(fd);
            return;
        }
        c->fd = fd;
        c->sp = l->sp;
        c->deadline = shm_now_ns() + HANDSHAKE_NS;
        if (shm_cable_pulled(sia) || shm_cm_peer_pid(fd) < 0 ||
            watch_fd(sia, fd, (struct shm_watch){.conn = c}))
            conn_free(c);
    }
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        /* no room for it now; it stays readable: do not spin on it */
        set_events(sia, l->fd, 0);
        sia->accept_at = shm_now_ns() + RETRY_NS;
    }
}

static void accept_again(struct shm_ia *sia)
{
    sia->accept_at = 0;
    for (int fd = 0; fd < sia->watch_size; fd++)
        if (sia->watch[fd].listener)
            set_events(sia, fd, EPOLLIN);
}

static void on_request(struct shm_conn *c, const struct shm_cm_msg *msg,
                       int fds[SHM_CM_FDS])
{
    struct core_sp *sp = c->sp;
    bool ok = shm_memfd_ok(fds[0], SHM_SEGMENT_SIZE);
    if (ok) {
        c->segment_fd = fds[0];
        fds[0] = -1;
        c->peer = peer_get(c->sia, c->fd, fds[1]);
        ok = c->peer && !shm_segment_map(c) && c->segment->magic == SHM_MAGIC &&
             c->segment->version == SHM_VERSION;
    }
    if (ok)
        shm_segment_agree(c);
    c->peer_pz_id = msg->pz_id;
    c->peer_ep_id = msg->ep_id;
    c->state = SHM_CM_OFFERED;
    c->deadline = UINT64_MAX; /* the active side minds the time */
    /* The service point may be gone after this (RSP). */
    if (!ok || core_cr_arrived(sp, c, &c->sia->ia->address, msg->ep_id,
                               msg->private_data, (DAT_COUNT)msg->private_size))
        conn_free(c);
}

DAT_RETURN shm_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data)
{
    struct shm_conn *c = cr->tp;
    int fd = c->sia->control_fd;
    attach(c, ep);
    /* The active side may have given up meanwhile. */
    if (c->state != SHM_CM_OFFERED ||
        shm_cm_send(c->fd, SHM_CM_ACCEPT, ep->pz->id, c->ep_id, private_data,
                    size, &fd, 1)) {
        conn_end(c, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, NULL, 0);
        return DAT_SUCCESS;
    }
    c->state = SHM_CM_ACCEPTED;
    mind(c, HANDSHAKE_NS);
    return DAT_SUCCESS;
}

void shm_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data)
{
    struct shm_conn *c = cr->tp;
    if (c->state == SHM_CM_OFFERED)
        shm_cm_send(c->fd, SHM_CM_REJECT, 0, 0, private_data, size, NULL, 0);
    conn_free(c);
}

/* -------------------------------------------------------------- events --- */

/* The peer has disconnected. What it sent before comes first, within reason:
 * the times are what the peer says. */
static void on_disconnect(struct shm_conn *c)
{
    uint64_t due = 0;
    if (c->state != SHM_CM_LINGERING)
        c->linger_end = shm_now_ns() + LINGER_NS;
    if (c->state != SHM_CM_ACCEPTED)
        due = shm_arriving(c->ep);
    if (!due || due > c->linger_end) {
        conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
        return;
    }
    unwatch_fd(c->sia, c->fd); /* the end of the socket says nothing new */
    c->state = SHM_CM_LINGERING;
    c->deadline = due;
}

/* The peer is gone, or broke the connection, or talks nonsense. */
static void on_end(struct shm_conn *c)
{
    switch (c->state) {
    case SHM_CM_ARRIVING:
        conn_free(c);
        break;
    case SHM_CM_OFFERED: /* the consumer learns when it accepts */
        conn_close(c);
        break;
    case SHM_CM_CONNECTING:
    case SHM_CM_REQUESTED:
        conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        break;
    case SHM_CM_ACCEPTED:
        conn_end(c, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, NULL, 0);
        break;
    case SHM_CM_CONNECTED:
    case SHM_CM_DRAINING:
        conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
        break;
    case SHM_CM_LINGERING:
    case SHM_CM_CLOSED:
        break;
    }
}

static void on_death(struct shm_ia *sia, struct shm_peer *peer)
{
    if (!shm_peer_dead(peer))
        return; /* an event of a peer that had this descriptor before */
    unwatch_fd(sia, peer->pidfd); /* it stays readable */
    for (struct shm_conn *c = sia->conns, *next; c; c = next) {
        next = c->next;
        if (c->peer == peer)
            on_end(c);
    }
}

static void on_cut(struct shm_conn *c)
{
    if (c->state == SHM_CM_CONNECTING || c->state == SHM_CM_REQUESTED)
        conn_end(c, DAT_CONNECTION_EVENT_UNREACHABLE, NULL, 0);
    else if (c->state == SHM_CM_LINGERING) /* what is on its way is lost */
        conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    else
        on_end(c);
}

/* Breaks connections of this end of the cable: all (0), or the n-th oldest. */
static void cut_end(struct shm_ia *sia, unsigned n)
{
    unsigned connected = 0;
    for (struct shm_conn *c = sia->conns; c; c = c->next)
        connected += c->state == SHM_CM_CONNECTED;
    for (struct shm_conn *c = sia->conns, *next; c; c = next) {
        next = c->next; /* the newest comes first */
        if (c->state == SHM_CM_CONNECTED && (connected-- == n || !n))
            on_cut(c);
    }
}

static void on_cable(struct shm_ia *sia)
{
    shm_cable_seen(sia); /* what comes from here on wakes us again */
    for (struct shm_conn *c = sia->conns, *next; c; c = next) {
        next = c->next;
        if (shm_cable_cut(c))
            on_cut(c);
    }
    uint32_t cuts = atomic_load(&sia->cable->end_cuts);
    if (cuts != sia->end_cuts &&
        atomic_load(&sia->cable->end_pid) == (uint32_t)getpid())
        cut_end(sia, atomic_load(&sia->cable->end_conn));
    sia->end_cuts = cuts;
}

static void on_message(struct shm_conn *c, const struct shm_cm_msg *msg,
                       int fds[SHM_CM_FDS])
{
    if (c->state == SHM_CM_ARRIVING && msg->type == SHM_CM_REQUEST)
        on_request(c, msg, fds);
    else if (c->state == SHM_CM_REQUESTED && msg->type == SHM_CM_ACCEPT)
        on_accept(c, msg, fds);
    else if (c->state == SHM_CM_REQUESTED && msg->type == SHM_CM_REJECT)
        conn_end(c, DAT_CONNECTION_EVENT_PEER_REJECTED, msg->private_data,
                 (DAT_COUNT)msg->private_size);
    else if (c->state == SHM_CM_REQUESTED && msg->type == SHM_CM_LATE)
        on_late(c);
    else if (c->state == SHM_CM_ACCEPTED && msg->type == SHM_CM_CONFIRM)
        conn_established(c, NULL, 0);
    else if (c->state >= SHM_CM_ACCEPTED && c->state <= SHM_CM_DRAINING &&
             msg->type == SHM_CM_DISCONNECT)
        on_disconnect(c);
    else
        on_end(c);
}

static void close_fds(int fds[SHM_CM_FDS])
{
    for (int i = 0; i < SHM_CM_FDS; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static void on_conn(struct shm_ia *sia, int fd)
{
    /* A message may end the connection and free it: look it up each time. */
    while (fd < sia->watch_size && sia->watch[fd].conn) {
        struct shm_conn *c = sia->watch[fd].conn;
        struct shm_cm_msg msg;
        int fds[SHM_CM_FDS];
        int got = shm_cm_recv(fd, &msg, fds);
        if (got > 0)
            on_message(c, &msg, fds);
        else if (got < 0)
            on_end(c);
        close_fds(fds);
        if (!got)
            break;
    }
}

/* Lets go of a peer that has not come to it, and tells it so: a socket that is
 * closed with something unread would reset that. */
static void let_go_late(struct shm_conn *c)
{
    struct shm_cm_msg msg;
    int fds[SHM_CM_FDS];
    shm_cm_send(c->fd, SHM_CM_LATE, 0, 0, NULL, 0, NULL, 0);
    shutdown(c->fd, SHUT_RDWR);
    while (shm_cm_recv(c->fd, &msg, fds) > 0)
        close_fds(fds);
    on_end(c);
}

static void on_deadline(struct shm_conn *c)
{
    switch (c->state) {
    case SHM_CM_CONNECTING:
    case SHM_CM_REQUESTED:
        conn_end(c, DAT_CONNECTION_EVENT_TIMED_OUT, NULL, 0);
        break;
    case SHM_CM_DRAINING:
        shm_disconnect(c->ep, true);
        break;
    case SHM_CM_LINGERING:
        shm_progress(c->ep, true);
        on_disconnect(c);
        break;
    default:
        let_go_late(c);
    }
}

/* By the managers: an offer is the consumer's to answer. */
static bool is_being_made(const struct shm_conn *c)
{
    return c->state <= SHM_CM_ACCEPTED && c->state != SHM_CM_OFFERED;
}

static bool awaits_message(const struct shm_conn *c)
{
    return is_being_made(c) && c->state != SHM_CM_CONNECTING;
}

/* Is it time to look whether a message has come that nobody has told of? Now
 * and then, and before one is given up for its lack. */
static bool should_hear(const struct shm_ia *sia, uint64_t now)
{
    bool due = sia->hear_at <= now;
    for (const struct shm_conn *c = sia->conns; c && !due; c = c->next)
        due = awaits_message(c) && c->deadline <= now;
    return due;
}

static void hear(struct shm_ia *sia, uint64_t now)
{
    sia->hear_at = now + CORE_LOOK_NS;
    for (int fd = 0; fd < sia->watch_size; fd++)
        if (sia->watch[fd].conn && awaits_message(sia->watch[fd].conn))
            on_conn(sia, fd);
}

/* Does what is due; returns milliseconds until the next look, -1: none. */
static int timers(struct shm_ia *sia)
{
    uint64_t now = shm_now_ns(), next = UINT64_MAX;
    uint64_t still = core_stood_still(sia->look_at, now);
    if (should_hear(sia, now))
        hear(sia, now);
    if (sia->accept_at && sia->accept_at <= now)
        accept_again(sia);
    else if (sia->accept_at)
        next = sia->accept_at;
    for (struct shm_conn *c = sia->conns, *n; c; c = n) {
        n = c->next;
        bool retry = c->state == SHM_CM_CONNECTING;
        if (is_being_made(c) && c->deadline != UINT64_MAX)
            c->deadline += still;
        if (c->deadline <= now) {
            on_deadline(c);
            next = now + RETRY_NS; /* what is left is seen next time */
            continue;
        }
        if (retry)
            try_connect(c);
        if (retry && next > now + RETRY_NS)
            next = now + RETRY_NS;
        if (is_being_made(c) && next > now + CORE_LOOK_NS)
            next = now + CORE_LOOK_NS;
        if (c->deadline < next)
            next = c->deadline;
    }
    sia->look_at = next;
    if (next == UINT64_MAX)
        return -1;
    uint64_t ms = next <= now ? 0 : (next - now + 999999) / 1000000;
    return ms > LONGEST_MS ? LONGEST_MS : (int)ms;
}

static void *cm_thread(void *arg)
{
    struct shm_ia *sia = arg;
    struct epoll_event events[32];
    core_ia_lock(sia->ia);
    while (!sia->stop) {
        int timeout = timers(sia);
        core_ia_unlock(sia->ia);
        int n = epoll_wait(sia->epoll_fd, events, 32, timeout);
        core_ia_lock(sia->ia);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            uint64_t count;
            if (fd == sia->wake_fd)
                (void)!read(fd, &count, sizeof count);
            else if (fd == sia->cable_fd)
                on_cable(sia);
            else if (fd < sia->watch_size && sia->watch[fd].listener)
                on_listener(sia, sia->watch[fd].listener);
            else if (fd < sia->watch_size && sia->watch[fd].peer)
                on_death(sia, sia->watch[fd].peer);
            else
                on_conn(sia, fd);
        }
    }
    core_ia_unlock(sia->ia);
    return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to connections: messages of the peer's manager, the end of its
 * socket, the death of its process, a pulled cable. */
#include <sys/socket.h>
#include <unistd.h>

#include "providers/shm/connect/active_side.h"
#include "providers/shm/connect/lifetime.h"
#include "providers/shm/connect/events.h"
#include "providers/shm/connect/passive_side.h"
#include "providers/shm/connect/watch.h"
#include "providers/shm/link_model/cable.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/message/data.h"

#define LINGER_NS 10000000000u /* for the link model to deliver */

/* What the peer sent before comes first, within a bound: the peer says when it
 * is due. */
void shm_on_disconnect(struct shm_conn *c)
{
    uint64_t due = 0;
    if (c->state != SHM_CONN_LINGERING)
        c->ends_since = busywait_now_ns();
    if (c->state != SHM_CONN_ACCEPTED)
        due = shm_arriving(c->ep);
    if (!due || due > c->ends_since + LINGER_NS) {
        shm_conn_end(c, DAT_CONNECTION_EVENT_DISCONNECTED, NULL, 0);
        return;
    }
    shm_watch_remove(c->sia,
                     c->fd); /* the end of the socket says nothing new */
    c->state = SHM_CONN_LINGERING;
    c->deadline = due;
}

/* The peer is gone, or broke the connection, or talks nonsense. */
static void on_end(struct shm_conn *c)
{
    switch (c->state) {
    case SHM_CONN_ARRIVING:
        shm_conn_free(c);
        break;
    case SHM_CONN_OFFERED: /* the consumer learns when it accepts */
        shm_conn_close(c);
        break;
    case SHM_CONN_CONNECTING:
    case SHM_CONN_REQUESTED:
        shm_conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        break;
    case SHM_CONN_ACCEPTED:
        shm_conn_end(c, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, NULL, 0);
        break;
    case SHM_CONN_CONNECTED:
    case SHM_CONN_DRAINING:
        shm_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
        break;
    case SHM_CONN_LINGERING:
    case SHM_CONN_ENDING:
    case SHM_CONN_CLOSED:
        break;
    }
}

void shm_on_death(struct shm_ia *sia, struct shm_peer *peer)
{
    if (!shm_peer_dead(peer))
        return; /* an event of a peer that had this descriptor before */
    shm_watch_remove(sia, peer->pidfd); /* it stays readable */
    for (struct shm_conn *c = sia->conns, *next; c; c = next) {
        next = c->next;
        if (c->peer == peer)
            on_end(c);
    }
}

static void on_cut(struct shm_conn *c)
{
    if (c->state == SHM_CONN_CONNECTING || c->state == SHM_CONN_REQUESTED)
        shm_conn_end(c, DAT_CONNECTION_EVENT_UNREACHABLE, NULL, 0);
    else if (c->state == SHM_CONN_LINGERING) /* what is on its way is lost */
        shm_conn_end(c, DAT_CONNECTION_EVENT_BROKEN, NULL, 0);
    else
        on_end(c);
}

/* Breaks connections of this end of the cable: all (0), or the n-th oldest. */
static void cut_end(struct shm_ia *sia, unsigned n)
{
    unsigned connected = 0;
    for (struct shm_conn *c = sia->conns; c; c = c->next)
        connected += c->state == SHM_CONN_CONNECTED;
    for (struct shm_conn *c = sia->conns, *next; c; c = next) {
        next = c->next; /* the newest comes first in the list */
        if (c->state == SHM_CONN_CONNECTED && (connected-- == n || !n))
            on_cut(c);
    }
}

void shm_on_cable(struct shm_ia *sia)
{
    shm_cable_seen(sia); /* a later change wakes the thread again */
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
    if (c->state == SHM_CONN_ARRIVING && msg->type == SHM_CM_REQUEST)
        shm_passive_request(c, msg, fds);
    else if (c->state == SHM_CONN_REQUESTED && msg->type == SHM_CM_ACCEPT)
        shm_active_accepted(c, msg, fds);
    else if (c->state == SHM_CONN_REQUESTED && msg->type == SHM_CM_REJECT)
        shm_conn_end(c, DAT_CONNECTION_EVENT_PEER_REJECTED, msg->private_data,
                     (DAT_COUNT)msg->private_size);
    else if (c->state == SHM_CONN_REQUESTED && msg->type == SHM_CM_LATE)
        shm_active_retry(c);
    else if (c->state == SHM_CONN_ACCEPTED && msg->type == SHM_CM_CONFIRM)
        shm_conn_established(c, NULL, 0);
    else if (c->state >= SHM_CONN_ACCEPTED && c->state <= SHM_CONN_DRAINING &&
             msg->type == SHM_CM_DISCONNECT)
        shm_on_disconnect(c);
    else
        on_end(c);
}

static void close_fds(int fds[SHM_CM_FDS])
{
    for (int i = 0; i < SHM_CM_FDS; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

void shm_on_readable(struct shm_ia *sia, int fd)
{
    /* a message may end and free the connection: look it up each time */
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

/* Reads what is unread first: closing the socket would otherwise reset it, and
 * the peer would never read LATE. */
void shm_on_late(struct shm_conn *c)
{
    struct shm_cm_msg msg;
    int fds[SHM_CM_FDS];
    shm_cm_send(c->fd, SHM_CM_LATE, 0, 0, NULL, 0, NULL, 0);
    shutdown(c->fd, SHUT_RDWR);
    while (shm_cm_recv(c->fd, &msg, fds) > 0)
        close_fds(fds);
    on_end(c);
}

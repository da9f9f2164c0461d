/* SPDX-License-Identifier: BSD-3-Clause */
/* The passive side of a connection: service points, and requests that arrive
 * there. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "providers/shm/connect/lifetime.h"
#include "providers/shm/connect/passive_side.h"
#include "providers/shm/connect/watch.h"
#include "providers/shm/link_model/cable.h"
#include "providers/shm/memory/memfd.h"

DAT_RETURN shm_passive_listen(struct core_sp *sp)
{
    struct shm_ia *sia = shm_ia(sp->o.ia);
    struct shm_listener *l = calloc(1, sizeof *l);
    int err = -ENOMEM;
    if (!l)
        goto fail;
    l->sp = sp;
    l->fd = shm_cm_socket();
    err = l->fd < 0
              ? -errno
              : shm_cm_bind(l->fd, shm_cm_rail(&sp->o.ia->address), sp->qual);
    if (!err && shm_watch_add(sia, l->fd, (struct shm_watch){.listener = l}))
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
        if (c->sp == sp && c->state == SHM_CONN_ARRIVING)
            shm_conn_free(c);
        else if (c->sp == sp)
            c->sp = NULL;
    }
    shm_watch_remove(sia, l->fd);
    if (l->fd >= 0)
        close(l->fd);
    free(l);
}

void shm_passive_arrivals(struct shm_ia *sia, struct shm_listener *l)
{
    int fd;
    while ((fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
           0) {
        struct shm_conn *c = shm_conn_new(sia, SHM_CONN_ARRIVING);
        if (!c) {
            close(fd);
            return;
        }
        c->fd = fd;
        c->sp = l->sp;
        c->deadline = busywait_now_ns() + SHM_HANDSHAKE_NS;
        if (shm_cable_pulled(sia) || shm_cm_peer_pid(fd) < 0 ||
            shm_watch_add(sia, fd, (struct shm_watch){.conn = c}))
            shm_conn_free(c);
    }
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        /* out of descriptors; it stays readable: do not spin on it */
        shm_watch_set(sia, l->fd, 0);
        sia->accept_at = busywait_now_ns() + SHM_RETRY_NS;
    }
}

void shm_passive_listen_again(struct shm_ia *sia)
{
    sia->accept_at = 0;
    for (int fd = 0; fd < sia->watch_size; fd++)
        if (sia->watch[fd].listener)
            shm_watch_set(sia, fd, EPOLLIN);
}

void shm_passive_request(struct shm_conn *c, const struct shm_cm_msg *msg,
                         int fds[SHM_CM_FDS])
{
    struct core_sp *sp = c->sp;
    bool ok = shm_memfd_ok(fds[0], SHM_SEGMENT_SIZE);
    if (ok) {
        c->segment_fd = fds[0];
        fds[0] = -1;
        ok = !shm_conn_find_peer(c, fds[1]) && !shm_segment_map(c) &&
             c->segment->magic == SHM_MAGIC &&
             c->segment->version == SHM_VERSION;
    }
    if (ok)
        shm_segment_agree(c);
    c->peer_pz_id = msg->pz_id;
    c->peer_ep_id = msg->ep_id;
    c->state = SHM_CONN_OFFERED;
    c->deadline = UINT64_MAX; /* the active side's consumer sets one */
    /* The service point may be gone after this (RSP). */
    if (!ok || core_cr_arrived(sp, c, &c->sia->ia->address, msg->ep_id,
                               msg->private_data, (DAT_COUNT)msg->private_size))
        shm_conn_free(c);
}

DAT_RETURN shm_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data)
{
    struct shm_conn *c = cr->tp;
    int fd = c->sia->control_fd;
    shm_conn_attach(c, ep);
    /* The active side may have given up meanwhile. */
    if (c->state != SHM_CONN_OFFERED ||
        shm_cm_send(c->fd, SHM_CM_ACCEPT, ep->pz->id, c->ep_id, private_data,
                    size, &fd, 1)) {
        shm_conn_end(c, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, NULL, 0);
        return DAT_SUCCESS;
    }
    c->state = SHM_CONN_ACCEPTED;
    shm_conn_set_deadline(c, SHM_HANDSHAKE_NS);
    return DAT_SUCCESS;
}

void shm_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data)
{
    struct shm_conn *c = cr->tp;
    if (c->state == SHM_CONN_OFFERED)
        shm_cm_send(c->fd, SHM_CM_REJECT, 0, 0, private_data, size, NULL, 0);
    shm_conn_free(c);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The active side of a connection: dat_ep_connect, and the peer's answers. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "providers/shm/connect/active_side.h"
#include "providers/shm/connect/lifetime.h"
#include "providers/shm/connect/watch.h"
#include "providers/shm/link_model/cable.h"
#include "providers/shm/memory/peer.h"

/* Rails have addresses of their own. Another address of the host stands for the
 * rail that has the same address as this one. */
static uint32_t service_address(const struct shm_conn *c)
{
    const struct sockaddr_storage remote = core_ep_remote(c->ep);
    uint32_t rail = shm_cm_rail(&remote);
    return rail ? rail : shm_cm_rail(&c->sia->ia->address);
}

void shm_active_try(struct shm_conn *c)
{
    struct shm_ia *sia = c->sia;
    struct core_ep *ep = c->ep;
    int err = shm_cm_connect(c->fd, service_address(c), ep->remote_qual);
    if (err == -EAGAIN)
        return;
    int fds[SHM_CM_FDS] = {c->segment_fd, sia->control_fd};
    /* if the socket has ended, its next message says why */
    if (err || shm_cm_peer_pid(c->fd) < 0 ||
        shm_watch_add(sia, c->fd, (struct shm_watch){.conn = c}) ||
        (shm_cm_send(c->fd, SHM_CM_REQUEST, ep->pz->id, c->ep_id,
                     c->private_data, c->private_size, fds, SHM_CM_FDS) &&
         errno != EPIPE)) {
        shm_conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        return;
    }
    c->state = SHM_CONN_REQUESTED;
}

DAT_RETURN shm_active_connect(struct core_ep *ep, uint64_t timeout_us,
                              DAT_COUNT size, const void *private_data)
{
    struct shm_ia *sia = shm_ia(ep->o.ia);
    const struct sockaddr_storage remote = core_ep_remote(ep);
    int local = shm_cm_is_local(&remote);
    struct shm_conn *c = shm_conn_new(sia, SHM_CONN_CONNECTING);
    if (!c || local < 0 || shm_segment_create(c) ||
        (c->fd = shm_cm_socket()) < 0) {
        if (c)
            shm_conn_free(c);
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    }
    shm_conn_attach(c, ep);
    c->private_size = size;
    if (size)
        memcpy(c->private_data, private_data, (size_t)size);
    if (timeout_us != UINT64_MAX)
        shm_conn_set_deadline(c, timeout_us * 1000);
    if (shm_cable_pulled(sia) || !local) {
        shm_conn_end(c, DAT_CONNECTION_EVENT_UNREACHABLE, NULL, 0);
        return DAT_SUCCESS;
    }
    shm_active_try(c);
    if (timeout_us == UINT64_MAX) /* else the thread is awake already */
        shm_watch_wake(sia);      /* to try again, if it must */
    return DAT_SUCCESS;
}

void shm_active_accepted(struct shm_conn *c, const struct shm_cm_msg *msg,
                         const int *fds)
{
    c->peer_pz_id = msg->pz_id;
    c->peer_ep_id = msg->ep_id;
    if (shm_conn_find_peer(c, fds[0])) {
        shm_conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        return;
    }
    shm_segment_agree(c);
    if (shm_cm_send(c->fd, SHM_CM_CONFIRM, 0, 0, NULL, 0, NULL, 0)) {
        bool ended = errno == EPIPE; /* the next message says why */
        shm_conn_forget_peer(c);
        if (!ended)
            shm_conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
        return;
    }
    shm_conn_established(c, msg->private_data, (DAT_COUNT)msg->private_size);
}

/* Another socket, with the same number, as shm_abort may be using it. Another
 * segment, too: the peer has closed its side of this one. */
static int begin_again(struct shm_conn *c)
{
    int fd = shm_cm_socket();
    int err = fd < 0 || dup3(fd, c->fd, O_CLOEXEC) < 0;
    if (fd >= 0)
        close(fd);
    shm_segment_unmap(c);
    return err || shm_segment_create(c);
}

void shm_active_retry(struct shm_conn *c)
{
    shm_watch_remove(c->sia, c->fd);
    if (begin_again(c) || atomic_load(&c->aborted))
        shm_conn_end(c, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, NULL, 0);
    else
        c->state = SHM_CONN_CONNECTING; /* shm_deadlines_meet tries again */
}

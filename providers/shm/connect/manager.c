/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection manager's thread: one per IA that listens or connects. It
 * sleeps except for connection set-up, disconnection, and the death of a peer,
 * which the kernel reports as the end of its socket. Everything here is under
 * ia->lock; the data path is not involved.
 *
 *   active                         passive
 *   connect, REQUEST ------------> CR event
 *            <------------- ACCEPT dat_cr_accept
 *   ESTABLISHED, CONFIRM --------> ESTABLISHED
 *
 * The passive side waits a bounded time: then it answers LATE and forgets the
 * request. An active side that had been stopped meanwhile asks again, as long
 * as its consumer's timeout allows.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "providers/core/thread.h"
#include "providers/shm/connect/active_side.h"
#include "providers/shm/connect/lifetime.h"
#include "providers/shm/connect/deadlines.h"
#include "providers/shm/connect/events.h"
#include "providers/shm/connect/manager.h"
#include "providers/shm/connect/passive_side.h"
#include "providers/shm/connect/watch.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/message/segment.h"

static void *run(void *arg)
{
    struct shm_ia *sia = arg;
    struct epoll_event events[32];
    core_ia_lock(sia->ia);
    while (!sia->stop) {
        int timeout = shm_deadlines_meet(sia);
        core_ia_unlock(sia->ia);
        int n = epoll_wait(sia->epoll_fd, events, 32, timeout);
        core_ia_lock(sia->ia);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            uint64_t count;
            if (fd == sia->wake_fd)
                (void)!read(fd, &count, sizeof count);
            else if (fd == sia->cable_fd)
                shm_on_cable(sia);
            else if (fd < sia->watch_size && sia->watch[fd].listener)
                shm_passive_arrivals(sia, sia->watch[fd].listener);
            else if (fd < sia->watch_size && sia->watch[fd].peer)
                shm_on_death(sia, sia->watch[fd].peer);
            else
                shm_on_readable(sia, fd);
        }
    }
    core_ia_unlock(sia->ia);
    return NULL;
}

static int start(struct shm_ia *sia)
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
    sia->thread_runs = !core_thread_create(&sia->thread, NULL, run, sia);
    return sia->thread_runs ? 0 : -1;
}

DAT_RETURN shm_listen(struct core_sp *sp)
{
    if (start(shm_ia(sp->o.ia)))
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
    return shm_passive_listen(sp);
}

DAT_RETURN shm_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data)
{
    if (start(shm_ia(ep->o.ia)))
        return CORE_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
    return shm_active_connect(ep, timeout_us, size, private_data);
}

void shm_manager_stop(struct shm_ia *sia)
{
    if (sia->thread_runs) {
        core_ia_lock(sia->ia);
        sia->stop = true;
        core_ia_unlock(sia->ia);
        shm_watch_wake(sia);
        pthread_join(sia->thread, NULL);
    }
    shm_conn_free_all(sia);
    if (sia->epoll_fd >= 0)
        close(sia->epoll_fd);
    if (sia->wake_fd >= 0)
        close(sia->wake_fd);
    free(sia->watch);
}

/* Sockets and the epoll set are the parent's, too: none of them is shut down
 * or changed. */
void shm_manager_forked(struct shm_ia *sia)
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
        c->state = SHM_CONN_CLOSED;
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

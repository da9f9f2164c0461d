/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IA's thread: starting and ending it, and the descriptors that it sleeps
 * on. What it does: loop.c.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "providers/core/thread.h"

#include "ofi.h"

/* -------------------------------------------------------- descriptors --- */

static int control(struct ofi_ia *oia, int op, int fd, uint32_t events,
                   uint32_t kind, uint32_t id)
{
    struct epoll_event e = {.events = events,
                            .data.u64 = (uint64_t)id << 32 | kind};
    return epoll_ctl(oia->epoll_fd, op, fd, &e);
}

void ofi_thread_await_cq(struct ofi_ia *oia)
{
    control(oia, EPOLL_CTL_MOD, oia->cq_fd, EPOLLIN | EPOLLONESHOT,
            OFI_WATCH_CQ, 0);
}

void ofi_thread_wake(struct ofi_ia *oia)
{
    uint64_t one = 1;
    while (write(oia->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

void ofi_thread_watch(struct ofi_conn *c)
{
    if (c->fd >= 0)
        control(c->oia, EPOLL_CTL_ADD, c->fd, EPOLLRDHUP | EPOLLET,
                OFI_WATCH_CONN, c->id);
}

/* ------------------------------------------------------- start and end --- */

static int open_fds(struct ofi_ia *oia)
{
    oia->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    oia->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    oia->link_fd = ofi_device_watch();
    if (oia->epoll_fd < 0 || oia->wake_fd < 0 ||
        control(oia, EPOLL_CTL_ADD, oia->wake_fd, EPOLLIN, OFI_WATCH_WAKE, 0) ||
        control(oia, EPOLL_CTL_ADD, oia->eq_fd, EPOLLIN, OFI_WATCH_EQ, 0) ||
        control(oia, EPOLL_CTL_ADD, oia->cq_fd, EPOLLONESHOT, OFI_WATCH_CQ, 0))
        return -1;
    if (oia->link_fd >= 0)
        control(oia, EPOLL_CTL_ADD, oia->link_fd, EPOLLIN, OFI_WATCH_LINK, 0);
    return 0;
}

static void close_fds(struct ofi_ia *oia)
{
    int *const own[] = {&oia->epoll_fd, &oia->wake_fd, &oia->link_fd};
    for (int i = 0; i < 3; i++) {
        if (*own[i] >= 0)
            close(*own[i]);
        *own[i] = -1;
    }
}

int ofi_thread_start(struct ofi_ia *oia)
{
    if (oia->thread_runs)
        return 0;
    if (open_fds(oia)) {
        close_fds(oia);
        return -1;
    }
    oia->thread_runs =
        !core_thread_create(&oia->thread, NULL, oia->thread_main, oia);
    if (!oia->thread_runs)
        close_fds(oia);
    return oia->thread_runs ? 0 : -1;
}

void ofi_thread_stop(struct ofi_ia *oia)
{
    if (oia->thread_runs) {
        core_ia_lock(oia->ia);
        oia->stop = true;
        core_ia_unlock(oia->ia);
        ofi_thread_wake(oia);
        pthread_join(oia->thread, NULL);
    }
    close_fds(oia);
}

void ofi_break_off(struct ofi_conn *c)
{
    if (!atomic_exchange(&c->failed, true))
        ofi_thread_wake(c->oia);
}

void ofi_thread_forked(struct ofi_ia *oia)
{
    oia->thread_runs = false;
    close_fds(oia);
}

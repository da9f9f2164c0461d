/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: system calls of the program that may wait long.
 * Meanwhile another thread of the rank may synchronise, after which pages are
 * elsewhere, and the kernel does not wait for them. So the kernel fills memory
 * of this rank only: stacks are never protected, and __real_malloc() is
 * private. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "omp/wrapper/private_buffer.h"
#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

/* ---------------------------------------------------------------- processes */

WRAPPED(pid_t, waitpid, pid_t id, int *status, int flags)
{
    int own = 0;
    const pid_t ended = __real_waitpid(id, status ? &own : NULL, flags);
    if (ended > 0 && status)
        *status = own;
    return ended;
}

WRAPPED(pid_t, wait, int *status)
{
    return __wrap_waitpid(-1, status, 0);
}

/* -------------------------------------------------------------------- times */

WRAPPED(int, clock_nanosleep, clockid_t clock, int flags,
        const struct timespec *time, struct timespec *left)
{
    const struct timespec own = *time;
    struct timespec rest = {0};
    const int rc =
        __real_clock_nanosleep(clock, flags, &own, left ? &rest : NULL);
    if (rc == EINTR && left && !(flags & TIMER_ABSTIME))
        *left = rest;
    return rc;
}

WRAPPED(int, nanosleep, const struct timespec *time, struct timespec *left)
{
    const int rc = __wrap_clock_nanosleep(CLOCK_REALTIME, 0, time, left);
    if (rc)
        errno = rc;
    return rc ? -1 : 0;
}

/* -------------------------------------------------------------- descriptors */

WRAPPED(int, poll, struct pollfd *fds, nfds_t count, int ms)
{
    int ready;
    /* more than there can be is an error */
    if (!count || !railomp_may_go(fds, sizeof *fds) ||
        count > (nfds_t)sysconf(_SC_OPEN_MAX))
        return __real_poll(fds, count, ms);
    struct pollfd *own = __real_malloc(count * sizeof *own);
    if (!own)
        return -1;
    memcpy(own, fds, count * sizeof *own);
    pthread_cleanup_push(free_buffer, own);
    ready = __real_poll(own, count, ms);
    for (nfds_t i = 0; ready >= 0 && i < count; i++)
        fds[i].revents = own[i].revents;
    pthread_cleanup_pop(true);
    return ready;
}

WRAPPED(int, select, int count, fd_set *reads, fd_set *writes, fd_set *others,
        struct timeval *time)
{
    fd_set *const sets[] = {reads, writes, others};
    fd_set own[3], *to[3];
    struct timeval own_time = {0};
    if (count < 0 || count > FD_SETSIZE)
        return __real_select(count, reads, writes, others, time);
    /* the kernel uses whole words */
    const size_t bytes = ((size_t)count + NFDBITS - 1) / NFDBITS * sizeof(long);
    for (int i = 0; i < 3; i++) {
        to[i] = sets[i] ? &own[i] : NULL;
        if (sets[i])
            memcpy(to[i], sets[i], bytes);
    }
    if (time)
        own_time = *time;
    const int ready =
        __real_select(count, to[0], to[1], to[2], time ? &own_time : NULL);
    for (int i = 0; i < 3; i++)
        if (ready >= 0 && sets[i])
            memcpy(sets[i], to[i], bytes);
    if (time)
        *time = own_time;
    return ready;
}

WRAPPED(ssize_t, send, int fd, const void *from, size_t bytes, int flags)
{
    ssize_t sent;
    railomp_descriptor(fd, "send");
    REPEATED(sent, railomp_prepare(from, bytes, false),
             __real_send(fd, from, bytes, flags));
    return sent;
}

ssize_t __real_recv(int fd, void *to, size_t bytes, int flags);

static ssize_t recv_private(int fd, void *to, const size_t bytes, int flags)
{
    ssize_t got;
    void *own = __real_malloc(bytes);
    if (!own)
        return -1;
    if (flags & MSG_TRUNC) /* of TCP: the kernel fills nothing in */
        memcpy(own, to, bytes);
    pthread_cleanup_push(free_buffer, own);
    got = __real_recv(fd, own, bytes, flags);
    /* with MSG_TRUNC it may be more than there is room for */
    if (got > 0)
        memcpy(to, own, at_most((size_t)got, bytes));
    pthread_cleanup_pop(true);
    return got;
}

WRAPPED(ssize_t, recv, int fd, void *to, size_t bytes, int flags)
{
    railomp_descriptor(fd, "recv");
    if (!railomp_may_go(to, bytes))
        return __real_recv(fd, to, bytes, flags);
    const bool may_be_short = !(flags & MSG_WAITALL) && is_stream(fd);
    return recv_private(
        fd, to, may_be_short ? at_most(bytes, STREAM_MOST) : bytes, flags);
}

/* with -D_FORTIFY_SOURCE: @room bytes are at @to */

WRAPPED(int, __poll_chk, struct pollfd *fds, nfds_t count, int ms, size_t room)
{
    check_room(count, room / sizeof *fds);
    return __wrap_poll(fds, count, ms);
}

WRAPPED(ssize_t, __recv_chk, int fd, void *to, size_t bytes, size_t room,
        int flags)
{
    check_room(bytes, room);
    return __wrap_recv(fd, to, bytes, flags);
}

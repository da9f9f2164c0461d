/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: system calls of the program that may wait long.
 * Meanwhile another thread of the rank may synchronise, after which pages are
 * elsewhere, and the kernel does not wait for them. So the kernel gets memory
 * of this rank only: stacks are never protected, and __real_malloc() is
 * private. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "omp/wrapper/program.h"

/* the linker's names */
#define WRAPPED(type, name, ...)                                               \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

void *__real_malloc(size_t bytes);
void __real_free(void *p);
void __chk_fail(void) __attribute__((noreturn));

/* Keeps errno. */
static void free_own(void *own)
{
    const int saved = errno;
    __real_free(own);
    errno = saved;
}

/* Private memory, with a copy of what is at @from unless that is NULL. */
static void *own_copy(const void *from, size_t bytes)
{
    void *own = __real_malloc(bytes ? bytes : 1);
    if (own && from)
        memcpy(own, from, bytes);
    return own;
}

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
    const size_t bytes = count * sizeof *fds;
    struct pollfd *own = own_copy(fds, bytes);
    if (!own)
        return -1;
    const int ready = __real_poll(own, count, ms);
    if (ready >= 0 && count)
        memcpy(fds, own, bytes);
    free_own(own);
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
    railomp_descriptor(fd, "send");
    void *own = own_copy(from, bytes);
    if (!own)
        return -1;
    const ssize_t sent = __real_send(fd, own, bytes, flags);
    free_own(own);
    return sent;
}

WRAPPED(ssize_t, recv, int fd, void *to, size_t bytes, int flags)
{
    railomp_descriptor(fd, "recv");
    void *own = own_copy(NULL, bytes);
    if (!own)
        return -1;
    const ssize_t got = __real_recv(fd, own, bytes, flags);
    /* with MSG_TRUNC it may be more than there is room for */
    if (got > 0)
        memcpy(to, own, (size_t)got < bytes ? (size_t)got : bytes);
    free_own(own);
    return got;
}

/* with -D_FORTIFY_SOURCE: @room bytes are at @to */

WRAPPED(int, __poll_chk, struct pollfd *fds, nfds_t count, int ms, size_t room)
{
    if (room / sizeof *fds < count)
        __chk_fail();
    return __wrap_poll(fds, count, ms);
}

WRAPPED(ssize_t, __recv_chk, int fd, void *to, size_t bytes, size_t room,
        int flags)
{
    if (room < bytes)
        __chk_fail();
    return __wrap_recv(fd, to, bytes, flags);
}

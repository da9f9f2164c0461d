/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: system calls of the program that wait until
 * descriptors are ready. The kernel fills memory of this rank only, as in
 * program_waits.c. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "omp/wrapper/private_buffer.h"
#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

/* A pointer to @copy, which becomes what @pointer points to; or NULL. */
#define COPY(copy, pointer) ((pointer) ? ((copy) = *(pointer), &(copy)) : NULL)

/* --------------------------------------------------------------------- poll */

/* For BUFFERED. More than there can be is an error. */
static struct pollfd *copy_polled(struct pollfd *fds, nfds_t count)
{
    if (!count || !railomp_may_go(fds, sizeof *fds) ||
        count > (nfds_t)sysconf(_SC_OPEN_MAX))
        return fds;
    struct pollfd *own = __real_malloc(count * sizeof *own);
    return own ? memcpy(own, fds, count * sizeof *own) : NULL;
}

static void give_events(struct pollfd *fds, const struct pollfd *own,
                        nfds_t count)
{
    for (nfds_t i = 0; i < count; i++)
        fds[i].revents = own[i].revents;
}

#define POLLED(call)                                                           \
    int ready;                                                                 \
    struct pollfd *own = copy_polled(fds, count);                              \
    BUFFERED(ready, own, fds, call, give_events(fds, own, count));             \
    return ready

WRAPPED(int, poll, struct pollfd *fds, nfds_t count, int ms)
{
    POLLED(__real_poll(own, count, ms));
}

WRAPPED(int, ppoll, struct pollfd *fds, nfds_t count,
        const struct timespec *time, const sigset_t *mask)
{
    struct timespec own_time;
    sigset_t own_mask;
    const struct timespec *until = COPY(own_time, time);
    const sigset_t *meanwhile = COPY(own_mask, mask);
    POLLED(__real_ppoll(own, count, until, meanwhile));
}

/* with -D_FORTIFY_SOURCE: @room bytes are at @fds */

WRAPPED(int, __poll_chk, struct pollfd *fds, nfds_t count, int ms, size_t room)
{
    check_room(count, room / sizeof *fds);
    POLLED(__real___poll_chk(own, count, ms, room));
}

WRAPPED(int, __ppoll_chk, struct pollfd *fds, nfds_t count,
        const struct timespec *time, const sigset_t *mask, size_t room)
{
    struct timespec own_time;
    sigset_t own_mask;
    const struct timespec *until = COPY(own_time, time);
    const sigset_t *meanwhile = COPY(own_mask, mask);
    check_room(count, room / sizeof *fds);
    POLLED(__real___ppoll_chk(own, count, until, meanwhile, room));
}

/* ------------------------------------------------------------------- select */

enum { SETS = 3 };
struct sets {
    fd_set *of_caller[SETS];
    fd_set own[SETS];
};

/* The kernel uses whole words. */
static size_t set_bytes(int count)
{
    return ((size_t)count + NFDBITS - 1) / NFDBITS * sizeof(long);
}

static void take_sets(struct sets *sets, int count)
{
    for (int i = 0; i < SETS; i++)
        if (sets->of_caller[i])
            memcpy(&sets->own[i], sets->of_caller[i], set_bytes(count));
}

static void give_sets(const struct sets *sets, int count, int ready)
{
    for (int i = 0; i < SETS; i++)
        if (ready >= 0 && sets->of_caller[i])
            memcpy(sets->of_caller[i], &sets->own[i], set_bytes(count));
}

static fd_set *own_set(struct sets *sets, int i)
{
    return sets->of_caller[i] ? &sets->own[i] : NULL;
}

WRAPPED(int, pselect, int count, fd_set *reads, fd_set *writes, fd_set *others,
        const struct timespec *time, const sigset_t *mask)
{
    struct sets sets = {.of_caller = {reads, writes, others}};
    struct timespec own_time;
    sigset_t own_mask;
    if (count < 0 || count > FD_SETSIZE)
        return __real_pselect(count, reads, writes, others, time, mask);
    take_sets(&sets, count);
    const int ready = __real_pselect(
        count, own_set(&sets, 0), own_set(&sets, 1), own_set(&sets, 2),
        COPY(own_time, time), COPY(own_mask, mask));
    give_sets(&sets, count, ready);
    return ready;
}

WRAPPED(int, select, int count, fd_set *reads, fd_set *writes, fd_set *others,
        struct timeval *time)
{
    struct sets sets = {.of_caller = {reads, writes, others}};
    struct timeval own_time;
    if (count < 0 || count > FD_SETSIZE)
        return __real_select(count, reads, writes, others, time);
    take_sets(&sets, count);
    const int ready = __real_select(count, own_set(&sets, 0), own_set(&sets, 1),
                                    own_set(&sets, 2), COPY(own_time, time));
    give_sets(&sets, count, ready);
    if (time)
        *time = own_time;
    return ready;
}

/* -------------------------------------------------------------------- epoll */

WRAPPED(int, epoll_ctl, int fd, int what, int of, struct epoll_event *event)
{
    struct epoll_event own;
    railomp_descriptor(fd, "epoll_ctl");
    railomp_descriptor(of, "epoll_ctl");
    return __real_epoll_ctl(fd, what, of, COPY(own, event));
}

/* For BUFFERED. */
static struct epoll_event *own_events(struct epoll_event *to, int room)
{
    if (room <= 0 || !railomp_may_go(to, (size_t)room * sizeof *to))
        return to;
    return __real_malloc((size_t)room * sizeof *to);
}

WRAPPED(int, epoll_wait, int fd, struct epoll_event *to, int room, int ms)
{
    int ready;
    struct epoll_event *own = own_events(to, room);
    railomp_descriptor(fd, "epoll_wait");
    BUFFERED(ready, own, to, __real_epoll_wait(fd, own, room, ms),
             memcpy(to, own, (size_t)ready * sizeof *to));
    return ready;
}

WRAPPED(int, epoll_pwait, int fd, struct epoll_event *to, int room, int ms,
        const sigset_t *mask)
{
    int ready;
    sigset_t own_mask;
    const sigset_t *meanwhile = COPY(own_mask, mask);
    struct epoll_event *own = own_events(to, room);
    railomp_descriptor(fd, "epoll_pwait");
    BUFFERED(ready, own, to, __real_epoll_pwait(fd, own, room, ms, meanwhile),
             memcpy(to, own, (size_t)ready * sizeof *to));
    return ready;
}

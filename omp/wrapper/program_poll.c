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

/* @copy, which becomes that of what the pointer has, or NULL */
#define COPY(copy, pointer) ((pointer) ? ((copy) = *(pointer), &(copy)) : NULL)

/* --------------------------------------------------------------------- poll */

WRAPPED(int, ppoll, struct pollfd *fds, nfds_t count,
        const struct timespec *time, const sigset_t *mask)
{
    int ready;
    struct timespec own_time;
    sigset_t own_mask;
    const struct timespec *until = COPY(own_time, time);
    const sigset_t *meanwhile = COPY(own_mask, mask);
    /* more than there can be is an error */
    if (!count || !railomp_may_go(fds, sizeof *fds) ||
        count > (nfds_t)sysconf(_SC_OPEN_MAX))
        return __real_ppoll(fds, count, until, meanwhile);
    struct pollfd *own = __real_malloc(count * sizeof *own);
    if (!own)
        return -1;
    memcpy(own, fds, count * sizeof *own);
    pthread_cleanup_push(free_buffer, own);
    ready = __real_ppoll(own, count, until, meanwhile);
    for (nfds_t i = 0; ready >= 0 && i < count; i++)
        fds[i].revents = own[i].revents;
    pthread_cleanup_pop(true);
    return ready;
}

WRAPPED(int, poll, struct pollfd *fds, nfds_t count, int ms)
{
    const struct timespec time = {.tv_sec = ms / 1000,
                                  .tv_nsec = ms % 1000 * 1000000L};
    return __wrap_ppoll(fds, count, ms < 0 ? NULL : &time, NULL);
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
    return __real_epoll_ctl(fd, what, of, COPY(own, event));
}

WRAPPED(int, epoll_pwait, int fd, struct epoll_event *to, int room, int ms,
        const sigset_t *mask)
{
    int ready;
    sigset_t own_mask;
    const sigset_t *meanwhile = COPY(own_mask, mask);
    if (room <= 0 || !railomp_may_go(to, (size_t)room * sizeof *to))
        return __real_epoll_pwait(fd, to, room, ms, meanwhile);
    struct epoll_event *own = __real_malloc((size_t)room * sizeof *own);
    if (!own)
        return -1;
    pthread_cleanup_push(free_buffer, own);
    ready = __real_epoll_pwait(fd, own, room, ms, meanwhile);
    if (ready > 0)
        memcpy(to, own, (size_t)ready * sizeof *to);
    pthread_cleanup_pop(true);
    return ready;
}

WRAPPED(int, epoll_wait, int fd, struct epoll_event *to, int room, int ms)
{
    return __wrap_epoll_pwait(fd, to, room, ms, NULL);
}

/* with -D_FORTIFY_SOURCE: @room bytes are at @fds */

WRAPPED(int, __poll_chk, struct pollfd *fds, nfds_t count, int ms, size_t room)
{
    check_room(count, room / sizeof *fds);
    return __wrap_poll(fds, count, ms);
}

WRAPPED(int, __ppoll_chk, struct pollfd *fds, nfds_t count,
        const struct timespec *time, const sigset_t *mask, size_t room)
{
    check_room(count, room / sizeof *fds);
    return __wrap_ppoll(fds, count, time, mask);
}

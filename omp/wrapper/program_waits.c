/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: system calls of the program that wait for processes
 * and times; program_poll.c and program_sockets.c have those that wait for
 * descriptors. Meanwhile another thread of the rank may synchronise, after
 * which pages are elsewhere, and the kernel does not wait for them. So the
 * kernel fills memory of this rank only: stacks are never protected, and
 * __real_malloc() is private. */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "omp/wrapper/wrapped.h"

/* ---------------------------------------------------------------- processes */

WRAPPED(pid_t, wait4, pid_t id, int *status, int flags, struct rusage *usage)
{
    int own = 0;
    struct rusage own_usage;
    const pid_t ended = __real_wait4(id, status ? &own : NULL, flags,
                                     usage ? &own_usage : NULL);
    if (ended > 0 && status)
        *status = own;
    if (ended > 0 && usage)
        *usage = own_usage;
    return ended;
}

WRAPPED(pid_t, wait3, int *status, int flags, struct rusage *usage)
{
    return __wrap_wait4(-1, status, flags, usage);
}

WRAPPED(pid_t, waitpid, pid_t id, int *status, int flags)
{
    return __wrap_wait4(id, status, flags, NULL);
}

WRAPPED(pid_t, wait, int *status)
{
    return __wrap_waitpid(-1, status, 0);
}

/* With WNOHANG it may find no process, and says so in @to. */
WRAPPED(int, waitid, idtype_t type, id_t id, siginfo_t *to, int flags)
{
    siginfo_t own = {0};
    const int rc = __real_waitid(type, id, to ? &own : NULL, flags);
    if (!rc && to)
        *to = own;
    return rc;
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

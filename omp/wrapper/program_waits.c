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

struct ended {
    int status;
    struct rusage usage;
};
#define OWN(of_caller) ((of_caller) ? &own.of_caller : NULL)

/* Returns @id. */
static pid_t give(pid_t id, const struct ended *own, int *status,
                  struct rusage *usage)
{
    if (id > 0 && status)
        *status = own->status;
    if (id > 0 && usage)
        *usage = own->usage;
    return id;
}

WRAPPED(pid_t, wait, int *status)
{
    struct ended own = {0};
    return give(__real_wait(OWN(status)), &own, status, NULL);
}

WRAPPED(pid_t, waitpid, pid_t id, int *status, int flags)
{
    struct ended own = {0};
    return give(__real_waitpid(id, OWN(status), flags), &own, status, NULL);
}

WRAPPED(pid_t, wait3, int *status, int flags, struct rusage *usage)
{
    struct ended own = {0};
    return give(__real_wait3(OWN(status), flags, OWN(usage)), &own, status,
                usage);
}

WRAPPED(pid_t, wait4, pid_t id, int *status, int flags, struct rusage *usage)
{
    struct ended own = {0};
    return give(__real_wait4(id, OWN(status), flags, OWN(usage)), &own, status,
                usage);
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
    const struct timespec own = *time;
    struct timespec rest = {0};
    const int rc = __real_nanosleep(&own, left ? &rest : NULL);
    if (rc && errno == EINTR && left)
        *left = rest;
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Over TCP, stops this process (SIGSTOP) in the middle of a long transfer: the
 * thread that moves the data moves a piece, and then stops the process. So the
 * stop comes neither before the transfer nor after it. */
#ifndef TESTS_STOP_INSIDE_H
#define TESTS_STOP_INSIDE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/stand_in.h"

#define STOP_PIECE ((size_t)64 << 10)

/* Set: the next transfer that is longer than a piece stops. */
static atomic_bool stop_inside;

static inline bool stop_is_due(size_t bytes)
{
    return bytes > STOP_PIECE && atomic_exchange(&stop_inside, false);
}

/* These two take the place of libc's in libfabric. */
STAND_IN ssize_t recv(int fd, void *to, size_t bytes, int flags)
{
    const bool stops = stop_is_due(bytes);
    const ssize_t n = syscall(SYS_recvfrom, fd, to, stops ? STOP_PIECE : bytes,
                              flags, NULL, NULL);
    if (stops)
        raise(SIGSTOP);
    return n;
}

STAND_IN ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct iovec iov[2]; /* a header and the data */
    struct msghdr part = *message;
    if (part.msg_iovlen != 2 || !stop_is_due(part.msg_iov[1].iov_len))
        return syscall(SYS_sendmsg, fd, message, flags);
    iov[0] = part.msg_iov[0];
    iov[1] = (struct iovec){part.msg_iov[1].iov_base, STOP_PIECE};
    part.msg_iov = iov;
    const ssize_t n = syscall(SYS_sendmsg, fd, &part, flags);
    raise(SIGSTOP);
    return n;
}

#endif

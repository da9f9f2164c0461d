/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: calls of the program with sockets. The kernel reads
 * and fills memory of this rank only, as in program_waits.c; but what it is to
 * send it reads where it is, and again if a page has gone. */
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "omp/wrapper/private_buffer.h"
#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

/* ---------------------------------------------------------------- addresses */

/* In place of the caller's, of which it has no more. */
struct address {
    struct sockaddr_storage at;
    socklen_t bytes;
};

/* Of a longer one the kernel reads nothing. */
static struct sockaddr *copy_address(struct address *own, const void *address,
                                     socklen_t bytes)
{
    if (address && bytes <= sizeof own->at)
        memcpy(&own->at, address, bytes);
    return address ? (struct sockaddr *)&own->at : NULL;
}

/* A negative length is an error. */
static socklen_t *room_of(struct address *own, const socklen_t *bytes)
{
    if (bytes)
        own->bytes = *bytes > INT_MAX
                         ? *bytes
                         : (socklen_t)at_most(*bytes, sizeof own->at);
    return bytes ? &own->bytes : NULL;
}

/* The kernel tells the whole length, also of an address that is cut. */
static void give_address(const struct address *own, void *to, socklen_t *bytes)
{
    if (!to || !bytes)
        return;
    memcpy(to, &own->at, at_most(own->bytes, at_most(*bytes, sizeof own->at)));
    *bytes = own->bytes;
}

/* Calls that read an address, … */
#define TAKES_ADDRESS(name)                                                    \
    WRAPPED(int, name, int fd, const struct sockaddr *address,                 \
            socklen_t bytes)                                                   \
    {                                                                          \
        struct address own;                                                    \
        railomp_descriptor(fd, #name);                                         \
        return __real_##name(fd, copy_address(&own, address, bytes), bytes);   \
    }
/* … and that fill one in. */
#define GIVES_ADDRESS(name, parameters, arguments)                             \
    int __real_##name parameters;                                              \
    int __wrap_##name parameters;                                              \
    int __wrap_##name parameters                                               \
    {                                                                          \
        struct address own;                                                    \
        struct sockaddr *at = to ? (struct sockaddr *)&own.at : NULL;          \
        socklen_t *room = room_of(&own, bytes);                                \
        railomp_descriptor(fd, #name);                                         \
        const int rc = __real_##name arguments;                                \
        if (rc >= 0)                                                           \
            give_address(&own, to, bytes);                                     \
        return rc;                                                             \
    }

TAKES_ADDRESS(bind)
TAKES_ADDRESS(connect)
GIVES_ADDRESS(getsockname, (int fd, struct sockaddr *to, socklen_t *bytes),
              (fd, at, room))
GIVES_ADDRESS(getpeername, (int fd, struct sockaddr *to, socklen_t *bytes),
              (fd, at, room))
GIVES_ADDRESS(accept, (int fd, struct sockaddr *to, socklen_t *bytes),
              (fd, at, room))
GIVES_ADDRESS(accept4,
              (int fd, struct sockaddr *to, socklen_t *bytes, int flags),
              (fd, at, room, flags))

/* ------------------------------------------------------------------ options */

WRAPPED(int, setsockopt, int fd, int level, int option, const void *from,
        socklen_t bytes)
{
    int rc;
    railomp_descriptor(fd, "setsockopt");
    REPEATED(rc, railomp_prepare(from, bytes, false),
             __real_setsockopt(fd, level, option, from, bytes));
    return rc;
}

WRAPPED(int, getsockopt, int fd, int level, int option, void *to,
        socklen_t *bytes)
{
    int rc;
    socklen_t own = bytes ? *bytes : 0;
    railomp_descriptor(fd, "getsockopt");
    REPEATED(rc, railomp_prepare(to, own, true),
             __real_getsockopt(fd, level, option, to, bytes ? &own : NULL));
    if (!rc)
        *bytes = own;
    return rc;
}

/* ------------------------------------------------------------------ sending */

WRAPPED(ssize_t, send, int fd, const void *from, size_t bytes, int flags)
{
    ssize_t sent;
    railomp_descriptor(fd, "send");
    REPEATED(sent, railomp_prepare(from, bytes, false),
             __real_send(fd, from, bytes, flags));
    return sent;
}

WRAPPED(ssize_t, sendto, int fd, const void *from, size_t bytes, int flags,
        const struct sockaddr *address, socklen_t address_bytes)
{
    ssize_t sent;
    struct address own;
    const struct sockaddr *to = copy_address(&own, address, address_bytes);
    railomp_descriptor(fd, "sendto");
    REPEATED(sent, railomp_prepare(from, bytes, false),
             __real_sendto(fd, from, bytes, flags, to, address_bytes));
    return sent;
}

/* ----------------------------------------------------------------- messages */

static bool may_go(const struct msghdr *m, size_t *bytes)
{
    return pieces_may_go(m->msg_iov, m->msg_iovlen, bytes) ||
           railomp_may_go(m, sizeof *m) ||
           railomp_may_go(m->msg_iov, m->msg_iovlen * sizeof *m->msg_iov) ||
           railomp_may_go(m->msg_name, m->msg_namelen) ||
           railomp_may_go(m->msg_control, m->msg_controllen);
}

/* NULL, or too long for the kernel, which is to find the error. */
static bool is_wrong(const struct msghdr *m)
{
    return !m || m->msg_iovlen > IOV_MAX ||
           (m->msg_name && m->msg_namelen > sizeof(struct sockaddr_storage)) ||
           m->msg_controllen > INT_MAX;
}

static size_t control_bytes(const struct msghdr *m)
{
    return m->msg_control ? m->msg_controllen : 0;
}

ssize_t __real_sendmsg(int fd, const struct msghdr *from, int flags);

static ssize_t send_private(int fd, const struct msghdr *from, int flags)
{
    ssize_t sent;
    struct address address;
    struct msghdr m = *from;
    const size_t control = control_bytes(from);
    const size_t pieces = m.msg_iovlen * sizeof *m.msg_iov;
    char *own = __real_malloc(pieces + control);
    if (!own)
        return -1;
    m.msg_name = copy_address(&address, from->msg_name, from->msg_namelen);
    m.msg_iov = memcpy(own, from->msg_iov, pieces);
    if (control)
        m.msg_control = memcpy(own + pieces, from->msg_control, control);
    pthread_cleanup_push(free_buffer, own);
    REPEATED(sent, prepare_all(m.msg_iov, m.msg_iovlen, false),
             __real_sendmsg(fd, &m, flags));
    pthread_cleanup_pop(true);
    return sent;
}

WRAPPED(ssize_t, sendmsg, int fd, const struct msghdr *from, int flags)
{
    size_t bytes;
    railomp_descriptor(fd, "sendmsg");
    if (is_wrong(from) || !may_go(from, &bytes))
        return __real_sendmsg(fd, from, flags);
    return send_private(fd, from, flags);
}

ssize_t __real_recvmsg(int fd, struct msghdr *to, int flags);

/* What the kernel has filled in, but the data. */
static void give_message(const struct msghdr *own, struct msghdr *to)
{
    if (to->msg_name)
        memcpy(to->msg_name, own->msg_name,
               at_most(own->msg_namelen, to->msg_namelen));
    if (to->msg_control)
        memcpy(to->msg_control, own->msg_control, own->msg_controllen);
    to->msg_namelen = own->msg_namelen;
    to->msg_controllen = own->msg_controllen;
    to->msg_flags = own->msg_flags;
}

static ssize_t recv_private(int fd, struct msghdr *to, size_t bytes, int flags)
{
    ssize_t got;
    struct sockaddr_storage address;
    const size_t control = control_bytes(to);
    if (!(flags & MSG_WAITALL) && is_stream(fd))
        bytes = at_most(bytes, STREAM_MOST);
    char *own = __real_malloc(control + bytes);
    if (!own)
        return -1;
    struct iovec piece = {own + control, bytes};
    struct msghdr m = {.msg_name = to->msg_name ? &address : NULL,
                       .msg_namelen = to->msg_namelen,
                       .msg_iov = &piece,
                       .msg_iovlen = 1,
                       .msg_control = control ? own : NULL,
                       .msg_controllen = control};
    if (flags & MSG_TRUNC) /* of TCP: the kernel fills nothing in */
        gather(piece.iov_base, to->msg_iov, bytes);
    pthread_cleanup_push(free_buffer, own);
    got = __real_recvmsg(fd, &m, flags);
    if (got >= 0) {
        /* with MSG_TRUNC it may be more than there is room for */
        scatter(to->msg_iov, piece.iov_base, at_most((size_t)got, bytes));
        give_message(&m, to);
    }
    pthread_cleanup_pop(true);
    return got;
}

WRAPPED(ssize_t, recvmsg, int fd, struct msghdr *to, int flags)
{
    size_t bytes;
    railomp_descriptor(fd, "recvmsg");
    if (is_wrong(to) || !may_go(to, &bytes))
        return __real_recvmsg(fd, to, flags);
    return recv_private(fd, to, bytes, flags);
}

WRAPPED(ssize_t, recvfrom, int fd, void *to, size_t bytes, int flags,
        struct sockaddr *address, socklen_t *address_bytes)
{
    struct iovec piece = {to, bytes};
    const bool has_address = address && address_bytes;
    struct msghdr m = {.msg_iov = &piece,
                       .msg_iovlen = 1,
                       .msg_name = has_address ? address : NULL,
                       .msg_namelen = has_address ? *address_bytes : 0};
    railomp_descriptor(fd, "recvfrom");
    if (!may_go(&m, &bytes) &&
        !railomp_may_go(address_bytes, sizeof(socklen_t)))
        return __real_recvfrom(fd, to, bytes, flags, address, address_bytes);
    const ssize_t got = recv_private(fd, &m, bytes, flags);
    if (got >= 0 && has_address)
        *address_bytes = m.msg_namelen;
    return got;
}

WRAPPED(ssize_t, recv, int fd, void *to, size_t bytes, int flags)
{
    return __wrap_recvfrom(fd, to, bytes, flags, NULL, NULL);
}

/* with -D_FORTIFY_SOURCE: @room bytes are at @to */

WRAPPED(ssize_t, __recv_chk, int fd, void *to, size_t bytes, size_t room,
        int flags)
{
    check_room(bytes, room);
    return __wrap_recv(fd, to, bytes, flags);
}

WRAPPED(ssize_t, __recvfrom_chk, int fd, void *to, size_t bytes, size_t room,
        int flags, struct sockaddr *address, socklen_t *address_bytes)
{
    check_room(bytes, room);
    return __wrap_recvfrom(fd, to, bytes, flags, address, address_bytes);
}

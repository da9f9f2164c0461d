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

/* In place of the caller's. No address is longer. */
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
    char own[256];
    socklen_t room = bytes ? *bytes : 0;
    const bool is_short = to && room <= sizeof own;
    railomp_descriptor(fd, "getsockopt");
    if (is_short)
        memcpy(own, to, room);
    /* again only if it is long: SO_ERROR tells an error once */
    REPEATED(rc, is_short ? (void)0 : railomp_prepare(to, room, true),
             __real_getsockopt(fd, level, option, is_short ? own : to,
                               bytes ? &room : NULL));
    if (!rc && is_short)
        memcpy(to, own, at_most(room, *bytes));
    if (!rc)
        *bytes = room;
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

/* ---------------------------------------------------------------- receiving */

/* How much to receive into private memory. */
static size_t bytes_at_once(int fd, size_t bytes, int flags)
{
    return !(flags & MSG_WAITALL) && is_stream(fd) ? at_most(bytes, STREAM_MOST)
                                                   : bytes;
}

/* For BUFFERED. Sets *bytes to the room that it has. */
static void *own_room(int fd, void *to, size_t *bytes, int flags)
{
    if (*bytes > SSIZE_MAX || !railomp_may_go(to, *bytes))
        return to;
    *bytes = bytes_at_once(fd, *bytes, flags);
    void *own = __real_malloc(*bytes);
    if (own && flags & MSG_TRUNC) /* of TCP: the kernel fills nothing in */
        memcpy(own, to, *bytes);
    return own;
}

/* with MSG_TRUNC it may be more than there is room for */
#define RECEIVED(call)                                                         \
    ssize_t got;                                                               \
    void *own = own_room(fd, to, &bytes, flags);                               \
    BUFFERED(got, own, to, call, memcpy(to, own, at_most((size_t)got, bytes)))

WRAPPED(ssize_t, recv, int fd, void *to, size_t bytes, int flags)
{
    railomp_descriptor(fd, "recv");
    RECEIVED(__real_recv(fd, own, bytes, flags));
    return got;
}

#define RECEIVED_FROM(call)                                                    \
    struct address from;                                                       \
    struct sockaddr *at = address ? (struct sockaddr *)&from.at : NULL;        \
    socklen_t *at_bytes = room_of(&from, address_bytes);                       \
    RECEIVED(call);                                                            \
    if (got >= 0)                                                              \
        give_address(&from, address, address_bytes);                           \
    return got

WRAPPED(ssize_t, recvfrom, int fd, void *to, size_t bytes, int flags,
        struct sockaddr *address, socklen_t *address_bytes)
{
    railomp_descriptor(fd, "recvfrom");
    RECEIVED_FROM(__real_recvfrom(fd, own, bytes, flags, at, at_bytes));
}

/* with -D_FORTIFY_SOURCE: @room bytes are at @to */

WRAPPED(ssize_t, __recv_chk, int fd, void *to, size_t bytes, size_t room,
        int flags)
{
    check_room(bytes, room);
    railomp_descriptor(fd, "recv");
    RECEIVED(__real___recv_chk(fd, own, bytes, room, flags));
    return got;
}

WRAPPED(ssize_t, __recvfrom_chk, int fd, void *to, size_t bytes, size_t room,
        int flags, struct sockaddr *address, socklen_t *address_bytes)
{
    check_room(bytes, room);
    railomp_descriptor(fd, "recvfrom");
    RECEIVED_FROM(
        __real___recvfrom_chk(fd, own, bytes, room, flags, at, at_bytes));
}

/* ----------------------------------------------------------------- messages */

static bool may_go(const struct msghdr *m)
{
    return pieces_may_go(m->msg_iov, m->msg_iovlen) ||
           railomp_may_go(m, sizeof *m) ||
           railomp_may_go(m->msg_iov, m->msg_iovlen * sizeof *m->msg_iov) ||
           railomp_may_go(m->msg_name, m->msg_namelen) ||
           railomp_may_go(m->msg_control, m->msg_controllen);
}

/* NULL, or too long for the kernel, which is to find the error. Else sets the
 * bytes of all pieces. */
static bool is_wrong(const struct msghdr *m, size_t *bytes)
{
    return !m || !add_pieces(m->msg_iov, m->msg_iovlen, bytes) ||
           (m->msg_name && m->msg_namelen > INT_MAX) ||
           m->msg_controllen > INT_MAX;
}

/* The kernel takes a longer one for as long as an address can be. */
static socklen_t name_bytes(const struct msghdr *m)
{
    return (socklen_t)at_most(m->msg_namelen, sizeof(struct sockaddr_storage));
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
    m.msg_namelen = name_bytes(from);
    m.msg_name = copy_address(&address, from->msg_name, m.msg_namelen);
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
    if (is_wrong(from, &bytes) || !may_go(from))
        return __real_sendmsg(fd, from, flags);
    return send_private(fd, from, flags);
}

ssize_t __real_recvmsg(int fd, struct msghdr *to, int flags);

/* What the kernel has filled in, but the data. */
static void give_message(const struct msghdr *own, struct msghdr *to)
{
    if (to->msg_name) {
        memcpy(to->msg_name, own->msg_name,
               at_most(own->msg_namelen, name_bytes(to)));
        to->msg_namelen = own->msg_namelen;
    }
    if (to->msg_control)
        memcpy(to->msg_control, own->msg_control, own->msg_controllen);
    to->msg_controllen = own->msg_controllen;
    to->msg_flags = own->msg_flags;
}

static ssize_t recv_private(int fd, struct msghdr *to, size_t bytes, int flags)
{
    ssize_t got;
    struct sockaddr_storage address;
    const size_t control = control_bytes(to);
    bytes = bytes_at_once(fd, bytes, flags);
    char *own = __real_malloc(control + bytes);
    if (!own)
        return -1;
    struct iovec piece = {own + control, bytes};
    struct msghdr m = {.msg_name = to->msg_name ? &address : NULL,
                       .msg_namelen = name_bytes(to),
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
    if (is_wrong(to, &bytes) || !may_go(to))
        return __real_recvmsg(fd, to, flags);
    return recv_private(fd, to, bytes, flags);
}

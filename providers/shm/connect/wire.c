/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between connection managers, over AF_UNIX sequenced-packet sockets
 * in the abstract namespace: names vanish with their process, and the kernel
 * vouches for the user at the other end.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "providers/shm/connect/wire.h"

int shm_cm_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* The leading zero byte of the path makes the name abstract. */
static socklen_t cm_name(struct sockaddr_un *un, uint32_t rail,
                         DAT_CONN_QUAL qual)
{
    memset(un, 0, sizeof *un);
    un->sun_family = AF_UNIX;
    int n = snprintf(un->sun_path + 1, sizeof un->sun_path - 1,
                     "dapl-shm/%u/%" PRIx64 "/%" PRIx32, (unsigned)geteuid(),
                     (uint64_t)qual, rail);
    if (n >= (int)sizeof un->sun_path - 1)
        return 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

int shm_cm_bind(int fd, uint32_t rail, DAT_CONN_QUAL qual)
{
    struct sockaddr_un un;
    socklen_t len = cm_name(&un, rail, qual);
    if (!len)
        return -ENAMETOOLONG;
    if (bind(fd, (struct sockaddr *)&un, len) || listen(fd, SOMAXCONN))
        return -errno;
    return 0;
}

int shm_cm_connect(int fd, uint32_t rail, DAT_CONN_QUAL qual)
{
    struct sockaddr_un un;
    socklen_t len = cm_name(&un, rail, qual);
    if (!len)
        return -ENAMETOOLONG;
    return connect(fd, (struct sockaddr *)&un, len) ? -errno : 0;
}

pid_t shm_cm_peer_pid(int fd)
{
    struct ucred cred;
    socklen_t len = sizeof cred;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) ||
        cred.uid != geteuid() || cred.pid <= 0)
        return -1;
    return cred.pid;
}

int shm_cm_send(int fd, enum shm_cm_type type, uint32_t pz_id, uint32_t ep_id,
                const void *private_data, DAT_COUNT size, const int *fds,
                int nfds)
{
    struct shm_cm_msg msg = {.magic = SHM_MAGIC,
                             .version = SHM_VERSION,
                             .type = type,
                             .pz_id = pz_id,
                             .ep_id = ep_id,
                             .private_size = (uint32_t)size};
    if (size)
        memcpy(msg.private_data, private_data, (size_t)size);
    struct iovec iov = {&msg, sizeof msg};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(SHM_CM_FDS * sizeof(int))];
    } control;
    struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
    if (nfds) {
        memset(&control, 0, sizeof control);
        h.msg_control = control.bytes;
        h.msg_controllen = CMSG_SPACE((size_t)nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t)nfds * sizeof(int));
    }
    return sendmsg(fd, &h, MSG_NOSIGNAL) == (ssize_t)sizeof msg ? 0 : -1;
}

static void take_fds(struct msghdr *h, int fds[SHM_CM_FDS])
{
    int n = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (n < SHM_CM_FDS)
                fds[n++] = fd;
            else
                close(fd);
        }
    }
}

int shm_cm_recv(int fd, struct shm_cm_msg *msg, int fds[SHM_CM_FDS])
{
    struct iovec iov = {msg, sizeof *msg};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(SHM_CM_FDS * sizeof(int))];
    } control;
    struct msghdr h = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    for (int i = 0; i < SHM_CM_FDS; i++)
        fds[i] = -1;
    ssize_t n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    take_fds(&h, fds);
    if (n == (ssize_t)sizeof *msg && !(h.msg_flags & MSG_TRUNC) &&
        msg->magic == SHM_MAGIC && msg->version == SHM_VERSION &&
        msg->private_size <= CORE_MAX_PRIVATE_DATA)
        return 1;
    return -1;
}

uint32_t shm_cm_rail(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)address;
    if (in->sin_family != AF_INET)
        return 0;
    uint32_t a = ntohl(in->sin_addr.s_addr);
    const uint32_t fixed = 0xffu << 24 | SHM_RAIL_ADDRESS;
    return (a & fixed) == SHM_RAIL_ADDRESS ? a : 0;
}

int shm_cm_is_local(const struct sockaddr_storage *address)
{
    struct sockaddr_storage a = *address;
    socklen_t len;
    if (a.ss_family == AF_INET) {
        ((struct sockaddr_in *)&a)->sin_port = 0;
        len = sizeof(struct sockaddr_in);
    } else {
        ((struct sockaddr_in6 *)&a)->sin6_port = 0;
        len = sizeof(struct sockaddr_in6);
    }
    /* One can bind to the host's own addresses only. */
    int fd = socket(a.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno == EAFNOSUPPORT ? 0 : -1;
    int err = bind(fd, (struct sockaddr *)&a, len);
    close(fd);
    return !err;
}

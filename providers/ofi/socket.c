/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP socket of a connection. libfabric does not give it out, but tells its
 * two addresses, which no other socket has. The peer's system answers as long
 * as it lives and the path exists, even if the peer is stopped, busy, or has no
 * receive. So its silence means a cut path, not a slow peer.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ofi.h"

#define NEAR 8

struct pair {
    struct sockaddr_storage local, peer;
    socklen_t local_size, peer_size;
};

/* Has it the same local address? */
static bool is_at(int fd, const struct pair *of)
{
    struct pair p = {.local_size = sizeof p.local};
    return !getsockname(fd, (struct sockaddr *)&p.local, &p.local_size) &&
           p.local_size == of->local_size &&
           !memcmp(&p.local, &of->local, p.local_size);
}

static bool is_socket(int fd, const struct pair *of)
{
    struct pair p = {.peer_size = sizeof p.peer};
    return is_at(fd, of) &&
           !getpeername(fd, (struct sockaddr *)&p.peer, &p.peer_size) &&
           p.peer_size == of->peer_size &&
           !memcmp(&p.peer, &of->peer, p.peer_size);
}

static bool is_listening(int fd, const struct pair *of)
{
    int listens;
    socklen_t size = sizeof listens;
    return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) &&
           listens && is_at(fd, of);
}

/* Descriptors are given out in order. */
static int near(bool (*is)(int, const struct pair *), const struct pair *of,
                int guess)
{
    for (int fd = guess < NEAR ? 0 : guess - NEAR; fd < guess + NEAR; fd++)
        if (is(fd, of))
            return fd;
    return -1;
}

static int anywhere(bool (*is)(int, const struct pair *), const struct pair *of)
{
    int found = -1;
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *e; all && found < 0 && (e = readdir(all));) {
        int fd = atoi(e->d_name);
        if (fd > 0 && is(fd, of))
            found = fd;
    }
    if (all)
        closedir(all);
    return found;
}

/* Finds a socket of libfabric's, which then ends at exec(). */
static int find(bool (*is)(int, const struct pair *), const struct pair *of,
                int guess)
{
    int found = near(is, of, guess);
    if (found < 0)
        found = anywhere(is, of);
    if (found >= 0)
        fcntl(found, F_SETFD, FD_CLOEXEC);
    return found;
}

/* Lets an idle connection ask now and then whether the peer's system is there.
 */
static void keep_alive(int fd)
{
    const int on = 1, idle = 1, every = 1, count = 5; /* seconds */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

int ofi_socket_next(void)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    if (fd < 0)
        return 0;
    close(fd);
    return fd;
}

int ofi_socket_find(struct fid_ep *fid, int guess)
{
    struct pair of = {.local_size = sizeof of.local,
                      .peer_size = sizeof of.peer};
    size_t local = sizeof of.local, peer = sizeof of.peer;
    if (fi_getname(&fid->fid, &of.local, &local) ||
        fi_getpeer(fid, &of.peer, &peer))
        return -1;
    of.local_size = (socklen_t)local;
    of.peer_size = (socklen_t)peer;
    int found = find(is_socket, &of, guess);
    if (found >= 0)
        keep_alive(found);
    return found;
}

/* libfabric's tcp (1.17) reads a request by a call that waits until it has all
 * of it. A request is one packet: all of it is there at once, or never. The
 * sockets that are accepted inherit this timeout. */
int ofi_socket_find_listening(struct fid_pep *fid, int guess)
{
    const struct timeval shortest = {.tv_usec = 1};
    struct pair of;
    size_t local = sizeof of.local;
    if (fi_getname(&fid->fid, &of.local, &local))
        return -1;
    of.local_size = (socklen_t)local;
    int found = find(is_listening, &of, guess);
    if (found >= 0)
        setsockopt(found, SOL_SOCKET, SO_RCVTIMEO, &shortest, sizeof shortest);
    return found;
}

static bool is_of_conn(const struct ofi_ia *oia, int fd)
{
    const struct ofi_conn *c = oia->conns;
    while (c && c->fd != fd)
        c = c->next;
    return c;
}

bool ofi_socket_end_service(struct ofi_ia *oia, struct fid_pep *fid)
{
    struct pair of;
    size_t local = sizeof of.local;
    char name[64], line[256];
    bool any = false;
    int fd;
    if (fi_getname(&fid->fid, &of.local, &local))
        return false;
    of.local_size = (socklen_t)local;
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", oia->eq_fd);
    FILE *watched = fopen(name, "re");
    while (watched && fgets(line, sizeof line, watched))
        if (sscanf(line, "tfd: %d", &fd) == 1 && is_at(fd, &of) &&
            !is_of_conn(oia, fd))
            any |= !shutdown(fd, SHUT_RDWR);
    if (watched)
        fclose(watched);
    return any;
}

size_t ofi_socket_unsent(int fd)
{
    int n = 0;
    return fd >= 0 && !ioctl(fd, SIOCOUTQ, &n) && n > 0 ? (size_t)n : 0;
}

size_t ofi_socket_unread(int fd)
{
    int n = 0;
    return fd >= 0 && !ioctl(fd, SIOCINQ, &n) && n > 0 ? (size_t)n : 0;
}

bool ofi_socket_acked(int fd, struct ofi_acked *acked)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (fd < 0 || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return false;
    *acked = (struct ofi_acked){
        .owed = info.tcpi_unacked || info.tcpi_probes,
        .heard_ms = info.tcpi_last_ack_recv,
        .answer_ms = (info.tcpi_rtt + 4 * info.tcpi_rttvar) / 1000,
        .bytes = info.tcpi_bytes_acked + info.tcpi_bytes_received};
    return true;
}

bool ofi_socket_owed(int fd, unsigned ms)
{
    struct ofi_acked acked;
    return ofi_socket_acked(fd, &acked) && acked.owed && acked.heard_ms > ms;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signal of the CQ. For each completion, libfabric's tcp (1.17) writes a
 * byte into a socket pair, which wakes who sleeps on the CQ. The next read of
 * the CQ takes the byte away, because the pair is in the CQ's epoll set. That
 * is two system calls for each completion, also if nobody sleeps.
 *
 * So while consumers poll and none sleeps, the pair is muted: the epoll set
 * does not report it. Then the first byte stays there, and libfabric writes no
 * other one. Whoever wants to sleep on the CQ unmutes it first. cq_lock is
 * held.
 */
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "ofi.h"

#define MUTE_AFTER 64 /* polls since the last sleep: muting costs a call */

static bool is_socket_pair(int fd)
{
    int domain;
    socklen_t size = sizeof domain;
    return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) &&
           domain == AF_UNIX;
}

/* The CQ is new: its epoll set has the signal only. */
void ofi_signal_find(struct ofi_ia *oia)
{
    char name[64], line[256];
    unsigned long long data;
    unsigned entries = 0;
    int fd = -1;
    oia->signal_fd = -1;
    snprintf(name, sizeof name, "/proc/self/fdinfo/%d", oia->cq_fd);
    FILE *set = fopen(name, "re");
    while (set && fgets(line, sizeof line, set))
        if (sscanf(line, "tfd: %d events: %*x data: %llx", &fd, &data) == 2)
            entries++;
    if (set)
        fclose(set);
    if (entries != 1 || !is_socket_pair(fd))
        return;
    oia->signal_fd = fd;
    oia->signal_data = data;
}

static bool report(const struct ofi_ia *oia, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.u64 = oia->signal_data};
    return !epoll_ctl(oia->cq_fd, EPOLL_CTL_MOD, oia->signal_fd, &e);
}

void ofi_signal_polled(struct ofi_ia *oia)
{
    if (oia->muted || oia->signal_fd < 0 || ++oia->unslept < MUTE_AFTER ||
        !ofi_consumers_poll(oia))
        return;
    oia->muted = report(oia, 0);
    oia->unslept = 0;
}

void ofi_signal_unmute(struct ofi_ia *oia)
{
    oia->unslept = 0;
    if (oia->muted)
        oia->muted = !report(oia, EPOLLIN);
}

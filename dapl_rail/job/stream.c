/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/stream.h"

#define SLICE_MS 100 /* after which an interruption is looked for */

uint64_t deadline_in(int ms)
{
    return ms < 0 ? UINT64_MAX
                  : platform_now(&platform_machine) + (uint64_t)ms * MS;
}

int deadline_left(uint64_t deadline_ns, int most_ms)
{
    uint64_t now = platform_now(&platform_machine);
    uint64_t left = now < deadline_ns ? (deadline_ns - now) / MS + 1 : 0;
    return left < (uint64_t)most_ms ? (int)left : most_ms;
}

void stream_tune(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        /* nothing is said, so it is asked: 10 s, then 5 times in 4 s */
        {IPPROTO_TCP, TCP_KEEPIDLE, 10},
        {IPPROTO_TCP, TCP_KEEPINTVL, 4},
        {IPPROTO_TCP, TCP_KEEPCNT, 5},
        /* something is said, and is not acknowledged: ms */
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 30000},
    };
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

int stream_ready(const struct stream *s, short events)
{
    for (;;) {
        /* what has come before an interruption is taken */
        bool stopped = s->job && drail_job_interrupted(s->job);
        int left = stopped ? 0 : deadline_left(s->deadline_ns, SLICE_MS);
        struct pollfd p = {.fd = s->fd, .events = events};
        int n = poll(&p, 1, left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return DRAIL_EPEER;
        if (stopped)
            return DRAIL_EINTR;
        if (!left)
            return DRAIL_ETIMEOUT;
    }
}

int stream_send(const struct stream *s, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes) {
        int rc = stream_ready(s, POLLOUT);
        if (rc)
            return rc;
        ssize_t n = send(s->fd, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return DRAIL_EPEER;
        if (n > 0) {
            from += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

int stream_recv(const struct stream *s, void *data, size_t bytes)
{
    char *to = data;
    while (bytes) {
        int rc = stream_ready(s, POLLIN);
        if (rc)
            return rc;
        ssize_t n = recv(s->fd, to, bytes, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return DRAIL_EPEER;
        if (n > 0) {
            to += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

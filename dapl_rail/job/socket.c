/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/socket.h"
#include "dapl_rail/job/transports.h"

struct deadline deadline_in(int ms)
{
    return deadline_after(platform_now(&platform_machine),
                          ms < 0 ? NEVER : (uint64_t)ms * MS);
}

struct deadline deadline_sooner(int ms, struct deadline *whole)
{
    return deadline_within(whole, platform_now(&platform_machine),
                           ms < 0 ? NEVER : (uint64_t)ms * MS);
}

int deadline_ms(struct deadline *d, int most_ms)
{
    deadline_turn(d, platform_now(&platform_machine));
    uint64_t left = deadline_left(d);
    uint64_t ms = left ? left / MS + 1 : 0;
    return ms < (uint64_t)most_ms ? (int)ms : most_ms;
}

int socket_ready(struct timed_socket *s, short events)
{
    bool stopped = false, over = false;
    int left = 0; /* data that are there already are taken at once */
    for (;;) {
        struct pollfd p = {.fd = s->fd, .events = events};
        int n = poll(&p, 1, left);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return DRAIL_EPEER;
        if (stopped)
            return DRAIL_EINTR;
        if (over)
            return DRAIL_ETIMEOUT;
        /* once more: data that came before the interruption are taken */
        stopped = s->job && drail_job_interrupted(s->job);
        int slice = s->job ? transports_serve(s->job, TURN_MS) : TURN_MS;
        over = !(left = stopped ? 0 : deadline_ms(&s->deadline, slice));
    }
}

int socket_send(struct timed_socket *s, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes) {
        int rc = socket_ready(s, POLLOUT);
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

int socket_recv(struct timed_socket *s, void *data, size_t bytes)
{
    char *to = data;
    while (bytes) {
        int rc = socket_ready(s, POLLIN);
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/oob.h"

/* -------------------------------------------------- the supervisor's side */

int oob_server_open(struct oob_server *s, unsigned nranks)
{
    memset(s, 0, sizeof *s);
    s->nranks = nranks;
    s->ranks = calloc(nranks, sizeof *s->ranks);
    /* untouched pages cost nothing */
    s->gather = malloc((size_t)JOB_GATHER_BYTES * nranks);
    s->reply = malloc((size_t)JOB_GATHER_BYTES * nranks);
    if (!s->ranks || !s->gather || !s->reply)
        return DRAIL_ENOMEM;
    for (unsigned r = 0; r < nranks; r++)
        s->ranks[r].fd = -1;
    return 0;
}

void oob_server_close(struct oob_server *s)
{
    for (unsigned r = 0; s->ranks && r < s->nranks; r++)
        if (s->ranks[r].fd >= 0)
            close(s->ranks[r].fd);
    free(s->ranks);
    free(s->gather);
    free(s->reply);
}

static size_t reply_bytes(const struct oob_server *s)
{
    return s->reply_header.status ? 0
                                  : (size_t)s->reply_header.bytes * s->nranks;
}

struct pollfd oob_server_want(const struct oob_server *s, unsigned rank)
{
    const struct oob_rank *r = &s->ranks[rank];
    struct pollfd p = {.fd = r->fd};
    if (r->replying)
        p.events = POLLOUT;
    else if (!r->waiting)
        p.events = POLLIN;
    return p;
}

static void drop(struct oob_rank *r)
{
    close(r->fd);
    r->fd = -1;
}

static void reply_to_waiting(struct oob_server *s, int status, uint32_t bytes)
{
    s->reply_header = (struct oob_header){.status = status, .bytes = bytes};
    for (unsigned i = 0; i < s->nranks; i++) {
        struct oob_rank *r = &s->ranks[i];
        if (!r->waiting)
            continue;
        r->waiting = false;
        r->replying = true;
        r->sent = 0;
    }
    s->waiting = 0;
}

void oob_server_break(struct oob_server *s, int code)
{
    if (!s->broken)
        s->broken = code;
    /* a good reply that is under way is finished first */
    bool replying = false;
    for (unsigned i = 0; i < s->nranks; i++)
        replying |= s->ranks[i].fd >= 0 && s->ranks[i].replying;
    if (!replying)
        reply_to_waiting(s, s->broken, 0);
}

/* The contribution of a rank is complete. */
static void contributed(struct oob_server *s, struct oob_rank *r)
{
    r->waiting = true;
    r->received = 0;
    s->waiting++;
    if (s->broken) {
        oob_server_break(s, s->broken);
        return;
    }
    if (s->waiting < s->nranks)
        return;
    int status = 0;
    for (unsigned i = 0; i < s->nranks; i++)
        if (s->ranks[i].header.bytes != r->header.bytes)
            status = DRAIL_EINVAL;
    unsigned char *full = s->gather;
    s->gather = s->reply;
    s->reply = full;
    reply_to_waiting(s, status, r->header.bytes);
}

static void receive(struct oob_server *s, unsigned rank)
{
    struct oob_rank *r = &s->ranks[rank];
    unsigned char *to;
    size_t want;

    if (r->received < sizeof r->header) {
        to = (unsigned char *)&r->header + r->received;
        want = sizeof r->header - r->received;
    } else {
        size_t done = r->received - sizeof r->header;
        to = s->gather + (size_t)rank * r->header.bytes + done;
        want = r->header.bytes - done;
    }
    ssize_t n = want ? recv(r->fd, to, want, MSG_DONTWAIT) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 && want) {
        drop(r);
        return;
    }
    r->received += (size_t)n;
    if (r->received < sizeof r->header)
        return;
    if (r->header.bytes > JOB_GATHER_BYTES) {
        drop(r);
        return;
    }
    if (r->received == sizeof r->header + r->header.bytes)
        contributed(s, r);
}

static void send_reply(struct oob_server *s, struct oob_rank *r)
{
    const unsigned char *from;
    size_t want, head = sizeof s->reply_header;
    if (r->sent < head) {
        from = (const unsigned char *)&s->reply_header + r->sent;
        want = head - r->sent;
    } else {
        from = s->reply + (r->sent - head);
        want = reply_bytes(s) - (r->sent - head);
    }
    ssize_t n = want ? send(r->fd, from, want, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0)
        drop(r);
    else if ((r->sent += (size_t)n) < head + reply_bytes(s))
        return;
    r->replying = false;
    if (s->broken)
        oob_server_break(s, s->broken);
}

void oob_server_event(struct oob_server *s, unsigned rank, short revents)
{
    struct oob_rank *r = &s->ranks[rank];
    if (r->replying && revents & (POLLOUT | POLLHUP | POLLERR))
        send_reply(s, r);
    else if (!r->replying && !r->waiting &&
             revents & (POLLIN | POLLHUP | POLLERR))
        receive(s, rank);
    else if (revents & (POLLHUP | POLLERR | POLLNVAL))
        drop(r);
}

/* ------------------------------------------------------- the rank's side */

struct transfer {
    const drail_job_t *job;
    int fd;
    uint64_t deadline_ns;
};

/* Waits until the socket is ready, in slices. */
static int ready(const struct transfer *x, short events)
{
    for (;;) {
        if (drail_job_interrupted(x->job))
            return DRAIL_EINTR;
        uint64_t now = platform_now(&platform_machine);
        if (now >= x->deadline_ns)
            return DRAIL_ETIMEOUT;
        uint64_t left = (x->deadline_ns - now) / MS + 1;
        struct pollfd p = {.fd = x->fd, .events = events};
        int n = poll(&p, 1, (int)(left < 100 ? left : 100));
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return DRAIL_EPEER;
    }
}

static int send_all(const struct transfer *x, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes) {
        int rc = ready(x, POLLOUT);
        if (rc)
            return rc;
        ssize_t n = send(x->fd, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return DRAIL_EPEER;
        if (n > 0) {
            from += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

static int recv_all(const struct transfer *x, void *data, size_t bytes)
{
    char *to = data;
    while (bytes) {
        int rc = ready(x, POLLIN);
        if (rc)
            return rc;
        ssize_t n = recv(x->fd, to, bytes, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return DRAIL_EPEER;
        if (n > 0) {
            to += n;
            bytes -= (size_t)n;
        }
    }
    return 0;
}

int oob_allgather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms)
{
    const struct oob_channel *channel = context;
    struct transfer x = {
        .job = channel->job,
        .fd = channel->fd,
        .deadline_ns =
            platform_now(&platform_machine) + (uint64_t)timeout_ms * MS,
    };
    struct oob_header header = {.bytes = (uint32_t)bytes};
    int rc = send_all(&x, &header, sizeof header);
    if (!rc)
        rc = send_all(&x, mine, bytes);
    if (!rc)
        rc = recv_all(&x, &header, sizeof header);
    if (!rc)
        rc = header.status;
    if (!rc && header.bytes != bytes)
        rc = DRAIL_EPEER;
    if (!rc)
        rc = recv_all(&x, all, bytes * channel->job->size);
    return rc;
}

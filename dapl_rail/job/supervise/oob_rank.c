/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's side of the out-of-band channel. */
#include <sys/socket.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/supervise/oob.h"
#include "dapl_rail/job/socket.h"

#define LAST_REPLY_MS 200 /* if there is one, it has arrived already */

static void explain(drail_error_t *err, const struct oob_header *reply)
{
    /* to its caller, DRAIL_EPEER means that the server is gone: it is not */
    int rc = reply->status == DRAIL_EPEER ? DRAIL_EJOB : reply->status;
    unsigned rank = reply->rank;
    if (rc == DRAIL_ETIMEOUT)
        error_set(err, rc, "rank %u has not come in time", rank);
    else if (rc == DRAIL_EINTR)
        error_set(err, rc, "rank %u has been interrupted", rank);
    else if (rc == DRAIL_EINVAL && reply->exit == OOB_LOST)
        error_set(err, rc, "the ranks do not fit together; rank 0 knows why");
    else if (rc == DRAIL_EINVAL)
        error_set(err, rc, JOB_SIZES_DIFFER);
    else if (reply->exit == OOB_LOST)
        error_set(err, rc, "rank %u is gone", rank);
    else
        error_set(err, rc, "rank %u has ended with status %d", rank,
                  reply->exit);
}

/* Receives a reply's header. */
static int recv_header(const struct oob_channel *c, struct timed_socket *s,
                       struct oob_header *reply)
{
    int rc = socket_recv(s, reply, sizeof *reply);
    if (rc == DRAIL_EPEER && !c->job->error.code)
        error_set(&c->job->error, rc, "rank 0 or its host is gone");
    return rc;
}

static int status_of(const struct oob_channel *c,
                     const struct oob_header *reply)
{
    if (reply->status)
        explain(&c->job->error, reply);
    return reply->status;
}

int oob_last_reply(const struct oob_channel *c)
{
    struct timed_socket s = {.fd = c->fd,
                             .deadline = deadline_in(LAST_REPLY_MS)};
    struct oob_header reply;
    int rc = recv_header(c, &s, &reply);
    if (!rc)
        rc = status_of(c, &reply);
    return rc && rc != DRAIL_ETIMEOUT ? rc : DRAIL_EPEER;
}

static int send_request(const struct oob_channel *c, struct timed_socket *s,
                        const struct oob_header *request, const void *mine)
{
    if (c->send_lock)
        pthread_mutex_lock(c->send_lock);
    int rc = socket_send(s, request, sizeof *request);
    if (!rc)
        rc = socket_send(s, mine, request->bytes);
    if (c->send_lock)
        pthread_mutex_unlock(c->send_lock);
    return rc == DRAIL_EPEER ? oob_last_reply(c) : rc;
}

int oob_allgather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms)
{
    struct oob_channel *c = context;
    struct timed_socket s = {
        .fd = c->fd, .job = c->job, .deadline = deadline_in(timeout_ms)};
    const struct oob_header request = {.status = OOB_GATHER,
                                       .bytes = (uint32_t)bytes};
    struct oob_header reply = {0};
    c->step = OOB_OUT_OF_STEP; /* until the reply is complete */
    int rc = send_request(c, &s, &request, mine);
    if (!rc && (rc = socket_ready(&s, POLLIN)))
        c->step = OOB_REPLY_DUE;
    if (!rc && !(rc = recv_header(c, &s, &reply)) &&
        (rc = status_of(c, &reply)))
        c->step = OOB_IN_STEP;
    if (!rc && reply.bytes != bytes)
        rc = DRAIL_EPEER;
    if (!rc && !(rc = socket_recv(&s, all, bytes * c->job->size)))
        c->step = OOB_IN_STEP;
    return rc;
}

/* Receives and drops the reply to an all-gather that the rank gave up. */
static int drop_reply(struct oob_channel *c, struct timed_socket *s)
{
    char dropped[4096];
    struct oob_header reply;
    int rc = recv_header(c, s, &reply);
    if (!rc)
        rc = status_of(c, &reply);
    size_t left = rc ? 0 : (size_t)reply.bytes * c->job->size;
    for (size_t n; !rc && left; left -= n) {
        n = left < sizeof dropped ? left : sizeof dropped;
        rc = socket_recv(s, dropped, n);
    }
    return rc;
}

int oob_end(struct oob_channel *c, int exit)
{
    struct timed_socket s = {
        .fd = c->fd, .job = c->job, .deadline = deadline_in(-1)};
    const struct oob_header request = {.status = OOB_END, .exit = exit};
    struct oob_header reply;
    if (!c->job->broken)
        c->job->error = (drail_error_t){0};
    if (c->step == OOB_OUT_OF_STEP)
        return oob_leave(c);
    int rc = send_request(c, &s, &request, NULL);
    if (!rc && c->step == OOB_REPLY_DUE)
        rc = drop_reply(c, &s);
    if (!rc && !(rc = recv_header(c, &s, &reply)))
        rc = status_of(c, &reply);
    return rc == DRAIL_EPEER && c->job->error.code ? c->job->error.code : rc;
}

int oob_leave(const struct oob_channel *c)
{
    drail_error_t *err = &c->job->error;
    shutdown(c->fd, SHUT_WR);
    return err->code ? err->code
                     : error_set(err, DRAIL_EJOB,
                                 "this rank has given up an all-gather");
}

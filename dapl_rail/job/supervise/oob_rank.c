/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank's side. */
#include <sys/socket.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/supervise/oob.h"
#include "dapl_rail/job/socket.h"

#define FAREWELL_MS 200 /* it is there already, if ever */

static void blame(drail_error_t *err, const struct oob_header *reply)
{
    /* the server lives, so that is not what this rank's job has lost */
    int rc = reply->status == DRAIL_EPEER ? DRAIL_EJOB : reply->status;
    unsigned rank = reply->rank;
    if (rc == DRAIL_ETIMEOUT)
        error_set(err, rc, "rank %u has not come in time", rank);
    else if (rc == DRAIL_EINTR)
        error_set(err, rc, "rank %u has been interrupted", rank);
    else if (rc == DRAIL_EINVAL && reply->exit == OOB_LOST)
        error_set(err, rc, "the ranks do not fit together; rank 0 knows why");
    else if (rc == DRAIL_EINVAL)
        error_set(err, rc, "the ranks' contributions differ in length");
    else if (reply->exit == OOB_LOST)
        error_set(err, rc, "rank %u is gone", rank);
    else
        error_set(err, rc, "rank %u has ended with status %d", rank,
                  reply->exit);
}

/* A reply's header, or what rank 0 said last. */
static int hear(const struct oob_channel *c, struct stream *s,
                struct oob_header *reply)
{
    int rc = stream_recv(s, reply, sizeof *reply);
    if (rc == DRAIL_EPEER && !c->job->error.code)
        error_set(&c->job->error, rc, "rank 0 or its host is gone");
    return rc;
}

static int judge(const struct oob_channel *c, const struct oob_header *reply)
{
    if (reply->status)
        blame(&c->job->error, reply);
    return reply->status;
}

int oob_farewell(const struct oob_channel *c)
{
    struct stream s = {.fd = c->fd, .deadline = deadline_in(FAREWELL_MS)};
    struct oob_header reply;
    int rc = hear(c, &s, &reply);
    if (!rc)
        rc = judge(c, &reply);
    return rc && rc != DRAIL_ETIMEOUT ? rc : DRAIL_EPEER;
}

static int say(const struct oob_channel *c, struct stream *s,
               const struct oob_header *request, const void *mine)
{
    if (c->speaking)
        pthread_mutex_lock(c->speaking);
    int rc = stream_send(s, request, sizeof *request);
    if (!rc)
        rc = stream_send(s, mine, request->bytes);
    if (c->speaking)
        pthread_mutex_unlock(c->speaking);
    return rc == DRAIL_EPEER ? oob_farewell(c) : rc;
}

int oob_allgather(void *context, const void *mine, size_t bytes, void *all,
                  int timeout_ms)
{
    struct oob_channel *c = context;
    struct stream s = {
        .fd = c->fd, .job = c->job, .deadline = deadline_in(timeout_ms)};
    const struct oob_header request = {.status = OOB_GATHER,
                                       .bytes = (uint32_t)bytes};
    struct oob_header reply = {0};
    c->step = STEP_LOST; /* until all of it is over */
    int rc = say(c, &s, &request, mine);
    if (!rc && (rc = stream_ready(&s, POLLIN)))
        c->step = STEP_OWED;
    if (!rc && !(rc = hear(c, &s, &reply)) && (rc = judge(c, &reply)))
        c->step = STEP_EVEN;
    if (!rc && reply.bytes != bytes)
        rc = DRAIL_EPEER;
    if (!rc && !(rc = stream_recv(&s, all, bytes * c->job->size)))
        c->step = STEP_EVEN;
    return rc;
}

/* Takes the reply to an all-gather that was given up. */
static int catch_up(struct oob_channel *c, struct stream *s)
{
    char nowhere[4096];
    struct oob_header reply;
    int rc = hear(c, s, &reply);
    if (!rc)
        rc = judge(c, &reply);
    size_t left = rc ? 0 : (size_t)reply.bytes * c->job->size;
    for (size_t n; !rc && left; left -= n) {
        n = left < sizeof nowhere ? left : sizeof nowhere;
        rc = stream_recv(s, nowhere, n);
    }
    return rc;
}

int oob_end(struct oob_channel *c, int exit)
{
    struct stream s = {.fd = c->fd, .job = c->job, .deadline = deadline_in(-1)};
    const struct oob_header request = {.status = OOB_END, .exit = exit};
    struct oob_header reply;
    if (c->step == STEP_LOST)
        return oob_leave(c);
    int rc = say(c, &s, &request, NULL);
    if (!rc && c->step == STEP_OWED)
        rc = catch_up(c, &s);
    if (!rc && !(rc = hear(c, &s, &reply)))
        rc = judge(c, &reply);
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

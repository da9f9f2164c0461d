/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's side of the out-of-band channel: nothing here waits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/supervise/oob.h"

int oob_server_open(struct oob_server *s, unsigned nranks)
{
    memset(s, 0, sizeof *s);
    s->nranks = nranks;
    s->ranks = calloc(nranks, sizeof *s->ranks);
    /* pages that are not touched cost nothing */
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

struct pollfd oob_server_want(const struct oob_server *s, unsigned rank)
{
    const struct oob_rank *r = &s->ranks[rank];
    struct pollfd p = {.fd = r->fd, .events = POLLRDHUP};
    if (r->replying)
        p.events |= POLLOUT;
    else if (!r->waiting && !r->closed)
        p.events |= POLLIN;
    return p;
}

void oob_server_watch(const struct oob_server *s, unsigned n,
                      struct pollfd *polls)
{
    for (unsigned i = 0; i < n; i++)
        polls[i] = oob_server_want(s, i);
}

bool oob_server_idle(const struct oob_server *s)
{
    for (unsigned i = 0; i < s->nranks; i++)
        if (s->ranks[i].fd >= 0 && s->ranks[i].replying)
            return false;
    return true;
}

/* --------------------------------------------------------------- replies */

static void reply(struct oob_rank *r, const struct oob_header *header)
{
    r->waiting = r->ended = false;
    r->replying = true;
    r->sent = 0;
    r->reply = *header;
}

static void reply_to_all(struct oob_server *s, const struct oob_header *header)
{
    for (unsigned i = 0; i < s->nranks; i++)
        if (s->ranks[i].waiting)
            reply(&s->ranks[i], header);
}

/* All ranks have contributed. */
static void complete(struct oob_server *s)
{
    struct oob_header header = {.bytes = s->ranks[0].header.bytes};
    for (unsigned i = 0; i < s->nranks; i++)
        if (s->ranks[i].header.bytes != header.bytes)
            header.status = DRAIL_EINVAL;
    if (header.status)
        header.bytes = 0;
    unsigned char *full = s->gather;
    s->gather = s->reply;
    s->reply = full;
    reply_to_all(s, &header);
}

/* No all-gather can complete any more: ranks that wait for one are told why.
 * Ranks that have ended are told when all ranks that are left have ended. */
static void fail_gathers(struct oob_server *s, const struct oob_header *why,
                         bool all_ended)
{
    for (unsigned i = 0; i < s->nranks; i++)
        if (s->ranks[i].waiting && (!s->ranks[i].ended || all_ended))
            reply(&s->ranks[i], why);
}

/* Answers all requests that can be answered now. */
static void answer(struct oob_server *s)
{
    unsigned waiting = 0, ended = 0, left = 0;
    struct oob_header why = s->broken;
    for (unsigned i = 0; i < s->nranks; i++) {
        const struct oob_rank *r = &s->ranks[i];
        waiting += r->waiting;
        left += r->fd >= 0 && !r->closed;
        if (!r->ended)
            continue;
        ended++;
        if (!why.status)
            why = (struct oob_header){.status = DRAIL_EPEER, .rank = i};
    }
    if (s->broken.status)
        fail_gathers(s, &why, ended == left);
    else if (ended == s->nranks)
        reply_to_all(s, &(struct oob_header){0});
    else if (ended)
        fail_gathers(s, &why, false);
    else if (waiting == s->nranks)
        complete(s);
}

void oob_server_break(struct oob_server *s, int code, unsigned rank, int exit)
{
    /* ranks may fail, and be heard, before the interruption that made them */
    if (!s->broken.status ||
        (code == DRAIL_EINTR && s->broken.status != DRAIL_EINTR))
        s->broken =
            (struct oob_header){.status = code, .rank = rank, .exit = exit};
    answer(s);
}

void oob_server_hang_up(struct oob_server *s)
{
    s->closing = true;
    for (unsigned i = 0; i < s->nranks; i++) {
        struct oob_rank *r = &s->ranks[i];
        if (r->fd >= 0 && !r->replying && !r->closed)
            reply(r, &s->broken);
    }
}

/* ---------------------------------------------------------------- events */

static void remove_rank(struct oob_server *s, unsigned rank, int code)
{
    struct oob_rank *r = &s->ranks[rank];
    close(r->fd);
    r->fd = -1;
    r->waiting = r->ended = r->replying = false;
    oob_server_break(s, code, rank, OOB_LOST);
}

/* The rank's connection has ended: its last message may say why. */
static void drop(struct oob_server *s, unsigned rank)
{
    struct oob_header last;
    bool received = recv(s->ranks[rank].fd, &last, sizeof last, MSG_DONTWAIT) ==
                    (ssize_t)sizeof last;
    remove_rank(s, rank,
                received && last.status == OOB_INTERRUPTED ? DRAIL_EINTR
                                                           : DRAIL_EPEER);
}

/* A rank's request is complete. */
static void contributed(struct oob_server *s, unsigned rank)
{
    struct oob_rank *r = &s->ranks[rank];
    r->waiting = true;
    r->received = 0;
    r->ended = r->header.status == OOB_END;
    if (r->ended && r->header.exit)
        oob_server_break(s, DRAIL_EJOB, rank, r->header.exit);
    else
        answer(s);
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
    ssize_t n = recv(r->fd, to, want, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(s, rank);
        return;
    }
    r->received += (size_t)n;
    if (r->received < sizeof r->header)
        return;
    if (r->header.status == OOB_INTERRUPTED)
        remove_rank(s, rank, DRAIL_EINTR);
    else if (r->header.bytes > JOB_GATHER_BYTES)
        drop(s, rank);
    else if (r->received == sizeof r->header + r->header.bytes)
        contributed(s, rank);
}

/* Bytes that follow the header of a reply. */
static size_t reply_bytes(const struct oob_server *s, const struct oob_rank *r)
{
    return (size_t)r->reply.bytes * s->nranks;
}

static void send_reply(struct oob_server *s, unsigned rank)
{
    struct oob_rank *r = &s->ranks[rank];
    const unsigned char *from;
    size_t want, head = sizeof r->reply;
    if (r->sent < head) {
        from = (const unsigned char *)&r->reply + r->sent;
        want = head - r->sent;
    } else {
        from = s->reply + (r->sent - head);
        want = reply_bytes(s, r) - (r->sent - head);
    }
    ssize_t n = send(r->fd, from, want, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        drop(s, rank);
        return;
    }
    r->sent += (size_t)n;
    if (r->sent < head + reply_bytes(s, r))
        return;
    r->replying = false;
    if (!s->closing)
        return;
    if (r->reply.status) {
        r->closed = true;
        shutdown(r->fd, SHUT_WR);
    } else {
        reply(r, &s->broken);
    }
}

void oob_server_event(struct oob_server *s, unsigned rank, short revents)
{
    const struct oob_rank *r = &s->ranks[rank];
    bool listening = !r->replying && !r->waiting && !r->closed;
    if (listening && revents)
        receive(s, rank);
    else if (revents & ~POLLOUT)
        drop(s, rank);
    else if (revents)
        send_reply(s, rank);
}

void oob_server_events(struct oob_server *s, unsigned n,
                       const struct pollfd *polls)
{
    for (unsigned i = 0; i < n; i++)
        if (polls[i].fd >= 0 && polls[i].revents)
            oob_server_event(s, i, polls[i].revents);
}

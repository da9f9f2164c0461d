/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0's side of the rendezvous. Nothing waits but poll(). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/rendezvous/handshake.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/socket.h"
#include "dapl_rail/job/supervise/oob.h"

#define PENDING    64   /* connections in the handshake at the same time */
#define PENDING_MS 5000 /* most time for a handshake */
#define WHY_LENGTH (ADDRESS_TEXT + 96)

/* A connection in the handshake; the slot is free when fd is -1. */
struct pending {
    int fd;
    struct deadline until;
    size_t received; /* bytes of request and proof */
    struct join_request request;
    struct join_proof proof;
    struct join_reply reply;
    struct address from;
};

struct server {
    int listener;
    unsigned size, missing;
    const struct secret *secret;
    int *fds; /* of ranks that are connected; -1: missing */
    drail_error_t *err;
    struct pending pending[PENDING];
    struct pollfd *polls; /* the listener, pending connections, ranks */
    unsigned dropped;     /* pending connections, … */
    char why[WHY_LENGTH]; /* … and why the last one was */
    int rc;               /* the job fails, … */
    unsigned blamed;      /* … because of this rank; 0: of a missing one */
};

static void release_slot(struct pending *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

static void drop(struct server *s, struct pending *p, const char *why)
{
    char from[ADDRESS_TEXT];
    address_text(&p->from, from);
    snprintf(s->why, sizeof s->why, "%s %.80s", from, why);
    s->dropped++;
    release_slot(p);
}

static bool send_reply(const struct pending *p)
{
    /* always fits into an empty socket */
    return send(p->fd, &p->reply, sizeof p->reply,
                MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof p->reply;
}

static void refuse(struct server *s, struct pending *p, enum refusal refusal,
                   const char *why)
{
    p->reply.refusal = refusal;
    send_reply(p);
    /* close() alone would reset the connection if unread data has come, and the
     * peer might lose the reply */
    shutdown(p->fd, SHUT_WR);
    drop(s, p, why);
}

/* A process that knows the secret does not fit: the job fails. */
static void fail_job(struct server *s, struct pending *p, enum refusal refusal)
{
    char from[ADDRESS_TEXT];
    const struct join_request *q = &p->request;
    address_text(&p->from, from);
    s->rc = DRAIL_EINVAL;
    switch (refusal) {
    case REFUSAL_VERSION:
        error_set(
            s->err, s->rc,
            "rank %u (%s) runs dapl_rail %.*s, rank 0 runs " DRAIL_VERSION,
            q->rank, from, (int)VERSION_BYTES, q->version);
        break;
    case REFUSAL_SIZE:
        error_set(s->err, s->rc,
                  "rank %u (%s) is of a job of %u ranks, rank 0 of one of %u",
                  q->rank, from, q->size, s->size);
        break;
    case REFUSAL_RANK:
        error_set(s->err, s->rc,
                  "%s wants to be rank %u; allowed: 1 to %u, as rank 0 is here",
                  from, q->rank, s->size - 1);
        break;
    default:
        error_set(s->err, s->rc, "rank %u has come twice, the second is %s",
                  q->rank, from);
    }
    refuse(s, p, refusal, "does not fit");
}

static void admit(struct server *s, struct pending *p)
{
    socket_tune(p->fd);
    handshake_mac(s->secret, SIDE_ROOT, &p->request, &p->reply, p->reply.mac);
    if (!send_reply(p)) {
        drop(s, p, "went away");
        return;
    }
    s->fds[p->request.rank] = p->fd;
    s->missing--;
    p->fd = -1;
}

static void got_request(struct server *s, struct pending *p)
{
    if (!preamble_fits(&p->request.preamble))
        refuse(s, p, REFUSAL_PROTOCOL,
               "speaks another protocol, or has another order of bytes");
    else if (!send_reply(p))
        drop(s, p, "went away");
}

static void got_proof(struct server *s, struct pending *p)
{
    if (!handshake_proves(s->secret, SIDE_RANK, &p->request, &p->reply,
                          p->proof.mac)) {
        refuse(s, p, REFUSAL_SECRET, "has another secret");
        return;
    }
    enum refusal refusal = join_request_refusal(&p->request, s->size);
    if (!refusal && s->fds[p->request.rank] >= 0)
        refusal = REFUSAL_TWICE;
    if (refusal)
        fail_job(s, p, refusal);
    else
        admit(s, p);
}

static void receive(struct server *s, struct pending *p)
{
    const size_t first = sizeof p->request, all = first + sizeof p->proof;
    bool request = p->received < first;
    char *to = request ? (char *)&p->request + p->received
                       : (char *)&p->proof + (p->received - first);
    ssize_t n =
        recv(p->fd, to, (request ? first : all) - p->received, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(s, p, "went away");
        return;
    }
    p->received += (size_t)n;
    if (p->received >= sizeof p->request.preamble.magic &&
        !preamble_is_ours(&p->request.preamble))
        drop(s, p, "is no rank");
    else if (p->received == first)
        got_request(s, p);
    else if (p->received == all)
        got_proof(s, p);
}

/* A free slot; if there is none, that of the oldest pending connection. */
static struct pending *take_slot(struct server *s)
{
    struct pending *oldest = &s->pending[0];
    for (unsigned i = 0; i < PENDING; i++) {
        struct pending *p = &s->pending[i];
        if (p->fd < 0)
            return p;
        if (p->until.at_ns < oldest->until.at_ns)
            oldest = p;
    }
    drop(s, oldest, "was slower than others");
    return oldest;
}

static void accept_one(struct server *s)
{
    struct address from = {.bytes = sizeof from.where};
    int fd = accept4(s->listener, (struct sockaddr *)&from.where, &from.bytes,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct pending *p = take_slot(s);
    *p = (struct pending){
        .fd = fd, .until = deadline_in(PENDING_MS), .from = from};
    if (join_reply_make(&p->reply, s->size))
        drop(s, p, "could not be answered");
}

/* The data of a connected rank are for the all-gather server, which reads them
 * later. Here only the end of its connection counts. */
static void rank_left(struct server *s, unsigned rank)
{
    if (s->rc)
        return;
    s->blamed = rank;
    s->rc = error_set(s->err, DRAIL_EPEER,
                      "rank %u has ended before all ranks had come", rank);
}

static void poll_once(struct server *s, int ms)
{
    struct pollfd *pending = s->polls + 1, *ranks = pending + PENDING;
    s->polls[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    for (unsigned i = 0; i < PENDING; i++)
        pending[i] = (struct pollfd){.fd = s->pending[i].fd, .events = POLLIN};
    for (unsigned r = 0; r < s->size; r++)
        ranks[r] = (struct pollfd){.fd = s->fds[r], .events = POLLRDHUP};
    if (poll(s->polls, 1 + PENDING + s->size, ms) <= 0)
        return;
    for (unsigned r = 1; r < s->size; r++)
        if (ranks[r].revents)
            rank_left(s, r);
    for (unsigned i = 0; i < PENDING && !s->rc; i++)
        if (pending[i].revents)
            receive(s, &s->pending[i]);
    if (!s->rc && s->polls[0].revents)
        accept_one(s);
}

static void drop_late(struct server *s)
{
    for (unsigned i = 0; i < PENDING; i++) {
        struct pending *p = &s->pending[i];
        if (p->fd >= 0 && !deadline_ms(&p->until, 1))
            drop(s, p, "said too little");
    }
}

/* Writes "1, 2 and 5 more". */
static void name_missing(const struct server *s, char *text, size_t bytes)
{
    unsigned named = 0;
    size_t used = 0;
    for (unsigned r = 1; r < s->size && named < 8; r++)
        if (s->fds[r] < 0)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u",
                                     named++ ? ", " : "", r);
    if (s->missing > named)
        snprintf(text + used, bytes - used, " and %u more", s->missing - named);
}

static int timed_out(const struct server *s)
{
    char names[96];
    name_missing(s, names, sizeof names);
    return error_set(s->err, DRAIL_ETIMEOUT,
                     "rank%s %s of %u %s not come in time%s%s",
                     s->missing > 1 ? "s" : "", names, s->size,
                     s->missing > 1 ? "have" : "has",
                     s->dropped ? "; the last one sent away: " : "",
                     s->dropped ? s->why : "");
}

/* Connected ranks already wait for the reply to their first all-gather. */
static void tell_ranks(const struct server *s)
{
    struct oob_header last = {
        .status = s->rc, .rank = s->blamed, .exit = OOB_LOST};
    for (unsigned r = 1; r < s->size && last.rank == 0; r++)
        if (s->fds[r] < 0)
            last.rank = r;
    for (unsigned r = 1; r < s->size; r++) {
        if (s->fds[r] < 0)
            continue;
        send(s->fds[r], &last, sizeof last, MSG_DONTWAIT | MSG_NOSIGNAL);
        close(s->fds[r]);
        s->fds[r] = -1;
    }
}

int rendezvous_serve(int listener, unsigned size, const struct secret *secret,
                     struct deadline deadline, int *fds, drail_error_t *err)
{
    struct server *s = calloc(1, sizeof *s);
    struct pollfd *polls = calloc(1 + PENDING + size, sizeof *polls);
    int rc = DRAIL_ENOMEM;
    if (!s || !polls) {
        error_set(err, rc, "out of memory");
        goto out;
    }
    *s = (struct server){.listener = listener,
                         .size = size,
                         .missing = size - 1,
                         .secret = secret,
                         .fds = fds,
                         .err = err,
                         .polls = polls};
    for (unsigned i = 0; i < PENDING; i++)
        s->pending[i].fd = -1;
    for (unsigned r = 0; r < size; r++)
        fds[r] = -1;
    while (!s->rc && s->missing) {
        int left = deadline_ms(&deadline, TURN_MS);
        if (left)
            poll_once(s, left);
        else
            s->rc = timed_out(s);
        drop_late(s);
    }
    for (unsigned i = 0; i < PENDING; i++)
        release_slot(&s->pending[i]);
    if (s->rc)
        tell_ranks(s);
    rc = s->rc;
out:
    free(polls);
    free(s);
    return rc;
}

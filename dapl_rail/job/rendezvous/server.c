/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0's side: nothing waits but poll(). */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/rendezvous/handshake.h"
#include "dapl_rail/job/supervise/oob.h"
#include "dapl_rail/job/socket.h"

#define VISITORS   64   /* who have not yet proved anything */
#define VISIT_MS   5000 /* so long they may take */
#define WHY_LENGTH (ADDRESS_TEXT + 96)

/* One who has come; the place is free when fd is -1. */
struct visitor {
    int fd;
    struct deadline until;
    size_t received; /* of hello and proof */
    struct hello hello;
    struct proof proof;
    struct answer answer;
    struct address from;
};

struct gate {
    int listener;
    unsigned size, missing;
    const struct secret *secret;
    int *fds;
    drail_error_t *err;
    struct visitor visitors[VISITORS];
    struct pollfd *polls; /* the listener, visitors, ranks */
    unsigned refused;     /* visitors */
    char why[WHY_LENGTH]; /* the last of them */
    int rc;               /* the job can't be */
    unsigned blamed;      /* ... for this rank; 0: for who is missing */
};

static void free_place(struct visitor *v)
{
    if (v->fd >= 0)
        close(v->fd);
    v->fd = -1;
}

static void dismiss(struct gate *g, struct visitor *v, const char *why)
{
    char from[ADDRESS_TEXT];
    address_text(&v->from, from);
    snprintf(g->why, sizeof g->why, "%s %.80s", from, why);
    g->refused++;
    free_place(v);
}

static bool send_answer(const struct visitor *v)
{
    /* always fits into an empty socket */
    return send(v->fd, &v->answer, sizeof v->answer,
                MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof v->answer;
}

static void refuse(struct gate *g, struct visitor *v, enum refusal refusal,
                   const char *why)
{
    v->answer.refusal = refusal;
    send_answer(v);
    /* what it has sent on must not reset the connection before it has read */
    shutdown(v->fd, SHUT_WR);
    dismiss(g, v, why);
}

/* By one who knows the secret: then all that have come are told. */
static void spoil(struct gate *g, struct visitor *v, enum refusal refusal)
{
    char from[ADDRESS_TEXT];
    const struct hello *h = &v->hello;
    address_text(&v->from, from);
    g->rc = DRAIL_EINVAL;
    switch (refusal) {
    case REFUSAL_VERSION:
        error_set(
            g->err, g->rc,
            "rank %u (%s) runs dapl_rail %.*s, rank 0 runs " DRAIL_VERSION,
            h->rank, from, (int)VERSION_BYTES, h->version);
        break;
    case REFUSAL_SIZE:
        error_set(g->err, g->rc,
                  "rank %u (%s) is of a job of %u ranks, rank 0 of one of %u",
                  h->rank, from, h->size, g->size);
        break;
    case REFUSAL_RANK:
        error_set(g->err, g->rc,
                  "%s wants to be rank %u; allowed: 1 to %u, as rank 0 is here",
                  from, h->rank, g->size - 1);
        break;
    default:
        error_set(g->err, g->rc, "rank %u has come twice, the second is %s",
                  h->rank, from);
    }
    refuse(g, v, refusal, "does not fit");
}

static void let_in(struct gate *g, struct visitor *v)
{
    stream_tune(v->fd);
    handshake_mac(g->secret, SIDE_ROOT, &v->hello, &v->answer, v->answer.mac);
    if (!send_answer(v)) {
        dismiss(g, v, "went away");
        return;
    }
    g->fds[v->hello.rank] = v->fd;
    g->missing--;
    v->fd = -1;
}

static void said_hello(struct gate *g, struct visitor *v)
{
    if (!preamble_fits(&v->hello.preamble))
        refuse(g, v, REFUSAL_PROTOCOL,
               "speaks another protocol, or has another order of bytes");
    else if (!send_answer(v))
        dismiss(g, v, "went away");
}

static void has_proved(struct gate *g, struct visitor *v)
{
    if (!handshake_proves(g->secret, SIDE_RANK, &v->hello, &v->answer,
                          v->proof.mac)) {
        refuse(g, v, REFUSAL_SECRET, "has another secret");
        return;
    }
    enum refusal refusal = hello_refusal(&v->hello, g->size);
    if (!refusal && g->fds[v->hello.rank] >= 0)
        refusal = REFUSAL_TWICE;
    if (refusal)
        spoil(g, v, refusal);
    else
        let_in(g, v);
}

static void listen_to(struct gate *g, struct visitor *v)
{
    const size_t first = sizeof v->hello, all = first + sizeof v->proof;
    bool hello = v->received < first;
    char *to = hello ? (char *)&v->hello + v->received
                     : (char *)&v->proof + (v->received - first);
    ssize_t n =
        recv(v->fd, to, (hello ? first : all) - v->received, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        dismiss(g, v, "went away");
        return;
    }
    v->received += (size_t)n;
    if (v->received >= sizeof v->hello.preamble.magic &&
        !preamble_ours(&v->hello.preamble))
        dismiss(g, v, "is no rank");
    else if (v->received == first)
        said_hello(g, v);
    else if (v->received == all)
        has_proved(g, v);
}

/* A free place, or that of the visitor who has been here longest. */
static struct visitor *make_room(struct gate *g)
{
    struct visitor *oldest = &g->visitors[0];
    for (unsigned i = 0; i < VISITORS; i++) {
        struct visitor *v = &g->visitors[i];
        if (v->fd < 0)
            return v;
        if (v->until.at_ns < oldest->until.at_ns)
            oldest = v;
    }
    dismiss(g, oldest, "was slower than others");
    return oldest;
}

static void open_door(struct gate *g)
{
    struct address from = {.bytes = sizeof from.where};
    int fd = accept4(g->listener, (struct sockaddr *)&from.where, &from.bytes,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct visitor *v = make_room(g);
    *v = (struct visitor){
        .fd = fd, .until = deadline_in(VISIT_MS), .from = from};
    if (answer_make(&v->answer, g->size))
        dismiss(g, v, "could not be answered");
}

/* What a rank says that was let in is for the server, but it may end before. */
static void has_left(struct gate *g, unsigned rank)
{
    if (g->rc)
        return;
    g->blamed = rank;
    g->rc = error_set(g->err, DRAIL_EPEER,
                      "rank %u has ended before all ranks had come", rank);
}

static void look_around(struct gate *g, int ms)
{
    struct pollfd *visitors = g->polls + 1, *ranks = visitors + VISITORS;
    g->polls[0] = (struct pollfd){.fd = g->listener, .events = POLLIN};
    for (unsigned i = 0; i < VISITORS; i++)
        visitors[i] =
            (struct pollfd){.fd = g->visitors[i].fd, .events = POLLIN};
    for (unsigned r = 0; r < g->size; r++)
        ranks[r] = (struct pollfd){.fd = g->fds[r], .events = POLLRDHUP};
    if (poll(g->polls, 1 + VISITORS + g->size, ms) <= 0)
        return;
    for (unsigned r = 1; r < g->size; r++)
        if (ranks[r].revents)
            has_left(g, r);
    for (unsigned i = 0; i < VISITORS && !g->rc; i++)
        if (visitors[i].revents)
            listen_to(g, &g->visitors[i]);
    if (!g->rc && g->polls[0].revents)
        open_door(g);
}

static void send_away_late(struct gate *g)
{
    for (unsigned i = 0; i < VISITORS; i++) {
        struct visitor *v = &g->visitors[i];
        if (v->fd >= 0 && !deadline_ms(&v->until, 1))
            dismiss(g, v, "said too little");
    }
}

/* "1, 2 and 5 more", into text. */
static void name_missing(const struct gate *g, char *text, size_t bytes)
{
    unsigned named = 0;
    size_t used = 0;
    for (unsigned r = 1; r < g->size && named < 8; r++)
        if (g->fds[r] < 0)
            used += (size_t)snprintf(text + used, bytes - used, "%s%u",
                                     named++ ? ", " : "", r);
    if (g->missing > named)
        snprintf(text + used, bytes - used, " and %u more", g->missing - named);
}

static int too_late(const struct gate *g)
{
    char who[96];
    name_missing(g, who, sizeof who);
    return error_set(g->err, DRAIL_ETIMEOUT,
                     "rank%s %s of %u %s not come in time%s%s",
                     g->missing > 1 ? "s" : "", who, g->size,
                     g->missing > 1 ? "have" : "has",
                     g->refused ? "; the last one sent away: " : "",
                     g->refused ? g->why : "");
}

/* Those that had come wait for their first all-gather. */
static void tell_all(const struct gate *g)
{
    struct oob_header farewell = {
        .status = g->rc, .rank = g->blamed, .exit = OOB_LOST};
    for (unsigned r = 1; r < g->size && farewell.rank == 0; r++)
        if (g->fds[r] < 0)
            farewell.rank = r;
    for (unsigned r = 1; r < g->size; r++) {
        if (g->fds[r] < 0)
            continue;
        send(g->fds[r], &farewell, sizeof farewell,
             MSG_DONTWAIT | MSG_NOSIGNAL);
        close(g->fds[r]);
        g->fds[r] = -1;
    }
}

int gate_keep(int listener, unsigned size, const struct secret *secret,
              struct deadline deadline, int *fds, drail_error_t *err)
{
    struct gate *g = calloc(1, sizeof *g);
    struct pollfd *polls = calloc(1 + VISITORS + size, sizeof *polls);
    int rc = DRAIL_ENOMEM;
    if (!g || !polls) {
        error_set(err, rc, "out of memory");
        goto out;
    }
    *g = (struct gate){.listener = listener,
                       .size = size,
                       .missing = size - 1,
                       .secret = secret,
                       .fds = fds,
                       .err = err,
                       .polls = polls};
    for (unsigned i = 0; i < VISITORS; i++)
        g->visitors[i].fd = -1;
    for (unsigned r = 0; r < size; r++)
        fds[r] = -1;
    while (!g->rc && g->missing) {
        int left = deadline_ms(&deadline, TURN_MS);
        if (left)
            look_around(g, left);
        else
            g->rc = too_late(g);
        send_away_late(g);
    }
    for (unsigned i = 0; i < VISITORS; i++)
        free_place(&g->visitors[i]);
    if (g->rc)
        tell_all(g);
    rc = g->rc;
out:
    free(polls);
    free(g);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The other ranks' side of the rendezvous. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/rendezvous/handshake.h"
#include "dapl_rail/job/socket.h"

#define REACH_MS 1000 /* for connect() to one of several addresses */
#define TRY_MS   3000 /* from connect() to this rank's proof */
#define PAUSE_MS 50   /* between rounds over all addresses */

struct client {
    unsigned rank, size;
    const struct secret *secret;
    struct deadline deadline;
    drail_error_t *err;
    char where[ADDRESS_TEXT];
    char last[ADDRESS_TEXT + 96]; /* why the last try failed */
};

/* Another try would not help. */
static int refused(const struct client *c, const struct join_reply *reply)
{
    static const char *const texts[] = {
        [REFUSAL_PROTOCOL] = "it speaks another protocol of dapl_rail, or has "
                             "another order of bytes",
        [REFUSAL_SECRET] = "it has another secret",
        [REFUSAL_VERSION] = "it runs another version",
        [REFUSAL_SIZE] = "its job has another number of ranks",
        [REFUSAL_RANK] = "it has no such rank to give",
        [REFUSAL_TWICE] = "this rank has come already",
    };
    const char *text = reply->refusal < sizeof texts / sizeof *texts
                           ? texts[reply->refusal]
                           : NULL;
    return error_set(
        c->err, reply->refusal == REFUSAL_SECRET ? DRAIL_EACCESS : DRAIL_EINVAL,
        "rank 0 at %s refuses rank %u of %u (dapl_rail " DRAIL_VERSION
        "): %s (%u ranks, dapl_rail %.*s)",
        c->where, c->rank, c->size, text ? text : "no reason", reply->size,
        (int)VERSION_BYTES, reply->version);
}

/* 0; DRAIL_EAGAIN: try again; another code: another try would not help. */
static int receive_reply(struct client *c, struct timed_socket *s,
                         struct join_reply *reply)
{
    struct preamble *p = &reply->preamble;
    int rc = socket_recv(s, p, sizeof *p);
    if (rc) {
        snprintf(c->last, sizeof c->last, "%s takes connections, and %s",
                 c->where,
                 rc == DRAIL_ETIMEOUT ? "is silent" : "ends them at once");
        return DRAIL_EAGAIN;
    }
    if (!preamble_is_ours(p)) {
        snprintf(c->last, sizeof c->last,
                 "somebody else than rank 0 of a job listens at %s", c->where);
        return DRAIL_EAGAIN;
    }
    if (!preamble_fits(p)) {
        reply->refusal = REFUSAL_PROTOCOL;
        reply->size = 0;
        reply->version[0] = '\0';
        return refused(c, reply);
    }
    rc = socket_recv(s, p + 1, sizeof *reply - sizeof *p);
    if (!rc && reply->refusal)
        return refused(c, reply);
    if (rc)
        snprintf(c->last, sizeof c->last, "%s has ended the connection",
                 c->where);
    return rc ? DRAIL_EAGAIN : 0;
}

static int send_all(struct timed_socket *s, const void *data, size_t bytes)
{
    return socket_send(s, data, bytes) ? DRAIL_EAGAIN : 0;
}

static int shake_hands(struct client *c, struct timed_socket *s)
{
    struct join_request request;
    struct join_reply reply = {0}, verdict = {0};
    struct join_proof proof;
    if (join_request_make(&request, c->rank, c->size))
        return error_set(c->err, DRAIL_EJOB, "getrandom: %s", strerror(errno));
    int rc = send_all(s, &request, sizeof request);
    if (!rc)
        rc = receive_reply(c, s, &reply);
    if (rc)
        return rc;
    handshake_mac(c->secret, SIDE_RANK, &request, &reply, proof.mac);
    rc = send_all(s, &proof, sizeof proof);
    /* From here on rank 0 may count this rank as connected. If the rank left
     * because rank 0 is slow, the job would fail. */
    struct timed_socket patient = {
        .fd = s->fd, .deadline = deadline_sooner(-1, &c->deadline)};
    if (!rc)
        rc = receive_reply(c, &patient, &verdict);
    if (rc)
        return rc;
    /* the proof is for the nonce of rank 0's first reply */
    memcpy(verdict.nonce, reply.nonce, sizeof verdict.nonce);
    return handshake_proves(c->secret, SIDE_ROOT, &request, &verdict,
                            verdict.mac)
               ? 0
               : error_set(c->err, DRAIL_EACCESS,
                           "the listener at %s does not prove to be rank 0",
                           c->where);
}

/* A connection; DRAIL_EAGAIN: try again; or another DRAIL_E…. */
static int try_address(struct client *c, const struct address *a, bool only)
{
    struct timed_socket s = {.deadline = deadline_sooner(TRY_MS, &c->deadline)};
    address_text(a, c->where);
    s.fd = address_connect(
        a, deadline_sooner(only ? TRY_MS : REACH_MS, &s.deadline));
    if (s.fd < 0) {
        snprintf(c->last, sizeof c->last, "%s: %s", c->where, strerror(errno));
        return DRAIL_EAGAIN;
    }
    int rc = shake_hands(c, &s);
    if (rc)
        close(s.fd);
    return rc ? rc : s.fd;
}

int rendezvous_connect(const struct addresses *where, unsigned rank,
                       unsigned size, const struct secret *secret,
                       struct deadline deadline, drail_error_t *err)
{
    struct client c = {.rank = rank,
                       .size = size,
                       .secret = secret,
                       .deadline = deadline,
                       .err = err};
    int rc, refusal = 0;
    do {
        for (unsigned i = 0; i < where->count; i++) {
            rc = try_address(&c, &where->list[i], where->count == 1);
            if (rc >= 0)
                return rc;
            /* another program may listen at one of the addresses */
            if (rc != DRAIL_EAGAIN)
                refusal = rc;
        }
        if (refusal)
            return refusal;
        platform_sleep(&platform_machine, PAUSE_MS * MS);
    } while (deadline_ms(&c.deadline, 1));
    return error_set(err, DRAIL_ETIMEOUT,
                     "rank %u does not reach rank 0 in time: %s", rank, c.last);
}

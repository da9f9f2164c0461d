/* SPDX-License-Identifier: BSD-3-Clause */
/* The side of ranks other than 0. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/rendezvous/handshake.h"
#include "dapl_rail/job/socket.h"

#define REACH_MS 1000 /* to reach one of several addresses */
#define TRY_MS   3000 /* ... from connect() to the last proof */
#define PAUSE_MS 50   /* between rounds */

struct entry {
    unsigned rank, size;
    const struct secret *secret;
    struct deadline deadline;
    drail_error_t *err;
    char where[ADDRESS_TEXT];
    char last[ADDRESS_TEXT + 96]; /* why the last try failed */
};

/* Not a failure that more patience cures. */
static int refused(struct entry *e, const struct answer *answer)
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
    const char *text = answer->refusal < sizeof texts / sizeof *texts
                           ? texts[answer->refusal]
                           : NULL;
    return error_set(
        e->err, DRAIL_EINVAL,
        "rank 0 at %s refuses rank %u of %u (dapl_rail " DRAIL_VERSION
        "): %s (%u ranks, dapl_rail %.*s)",
        e->where, e->rank, e->size, text ? text : "no reason", answer->size,
        (int)VERSION_BYTES, answer->version);
}

/* 0; DRAIL_EAGAIN: try again; else there is no use. */
static int hear(struct entry *e, struct stream *s, struct answer *answer)
{
    struct preamble *p = &answer->preamble;
    int rc = stream_recv(s, p, sizeof *p);
    if (rc) {
        snprintf(e->last, sizeof e->last, "%s takes connections, and %s",
                 e->where,
                 rc == DRAIL_ETIMEOUT ? "is silent" : "ends them at once");
        return DRAIL_EAGAIN;
    }
    if (!preamble_ours(p)) {
        snprintf(e->last, sizeof e->last,
                 "somebody else than rank 0 of a job listens at %s", e->where);
        return DRAIL_EAGAIN;
    }
    if (!preamble_fits(p)) {
        answer->refusal = REFUSAL_PROTOCOL;
        answer->size = 0;
        answer->version[0] = '\0';
        return refused(e, answer);
    }
    rc = stream_recv(s, p + 1, sizeof *answer - sizeof *p);
    if (!rc && answer->refusal)
        return refused(e, answer);
    if (rc)
        snprintf(e->last, sizeof e->last, "%s has ended the connection",
                 e->where);
    return rc ? DRAIL_EAGAIN : 0;
}

static int say(struct stream *s, const void *data, size_t bytes)
{
    return stream_send(s, data, bytes) ? DRAIL_EAGAIN : 0;
}

static int introduce(struct entry *e, struct stream *s)
{
    struct hello hello;
    struct answer answer = {0}, verdict = {0};
    struct proof proof;
    if (hello_make(&hello, e->rank, e->size))
        return error_set(e->err, DRAIL_EJOB, "getrandom: %s", strerror(errno));
    int rc = say(s, &hello, sizeof hello);
    if (!rc)
        rc = hear(e, s, &answer);
    if (rc)
        return rc;
    handshake_mac(e->secret, SIDE_RANK, &hello, &answer, proof.mac);
    rc = say(s, &proof, sizeof proof);
    /* from here on rank 0 may have let it in: who left now would spoil the job,
     * however slow it is */
    struct stream patient = {.fd = s->fd,
                             .deadline = deadline_sooner(-1, &e->deadline)};
    if (!rc)
        rc = hear(e, &patient, &verdict);
    if (rc)
        return rc;
    /* for the number that the rank has seen before */
    memcpy(verdict.nonce, answer.nonce, sizeof verdict.nonce);
    return handshake_proves(e->secret, SIDE_ROOT, &hello, &verdict, verdict.mac)
               ? 0
               : error_set(e->err, DRAIL_EINVAL,
                           "who listens at %s does not prove to be rank 0",
                           e->where);
}

/* The connection, DRAIL_EAGAIN, or another DRAIL_E…. */
static int try_one(struct entry *e, const struct address *a, bool only)
{
    struct stream s = {.deadline = deadline_sooner(TRY_MS, &e->deadline)};
    address_text(a, e->where);
    s.fd = address_connect(
        a, deadline_sooner(only ? TRY_MS : REACH_MS, &s.deadline));
    if (s.fd < 0) {
        snprintf(e->last, sizeof e->last, "%s: %s", e->where, strerror(errno));
        return DRAIL_EAGAIN;
    }
    int rc = introduce(e, &s);
    if (rc)
        close(s.fd);
    return rc ? rc : s.fd;
}

int gate_enter(const struct addresses *where, unsigned rank, unsigned size,
               const struct secret *secret, struct deadline deadline,
               drail_error_t *err)
{
    struct entry e = {.rank = rank,
                      .size = size,
                      .secret = secret,
                      .deadline = deadline,
                      .err = err};
    int rc, refusal = 0;
    do {
        for (unsigned i = 0; i < where->count; i++) {
            rc = try_one(&e, &where->list[i], where->count == 1);
            if (rc >= 0)
                return rc;
            /* somebody else may listen at one of several addresses */
            if (rc != DRAIL_EAGAIN)
                refusal = rc;
        }
        if (refusal)
            return refusal;
        platform_sleep(&platform_machine, PAUSE_MS * MS);
    } while (deadline_ms(&e.deadline, 1));
    return error_set(err, DRAIL_ETIMEOUT,
                     "rank %u does not reach rank 0 in time: %s", rank, e.last);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank and rank 0 prove to each other that both know the secret of the job:
 *
 *     rank     join_request: rank, size, version, nonce
 *     rank 0   join_reply: size, version, nonce
 *     rank     join_proof: HMAC-SHA-256 of request and reply, for SIDE_RANK
 *     rank 0   join_reply: the same for SIDE_ROOT, or a refusal
 *
 * The secret itself is never sent. The nonces tie each proof to one connection,
 * the sides to one direction. Later messages are neither encrypted nor signed.
 */
#ifndef DRAIL_JOB_HANDSHAKE_H
#define DRAIL_JOB_HANDSHAKE_H

#include <stdbool.h>

#include "dapl_rail/job/rendezvous/secret.h"
#include "dapl_rail/job/rendezvous/sha256.h"

#define NONCE_BYTES   16u
#define VERSION_BYTES 16u

/* The beginning of the first message of each side. */
struct preamble {
    char magic[8];
    uint32_t protocol;
    uint32_t order; /* of bytes: all-gathers carry structures as they are */
};

struct join_request {
    struct preamble preamble;
    uint32_t rank, size;
    char version[VERSION_BYTES]; /* of the library */
    unsigned char nonce[NONCE_BYTES];
};

struct join_proof {
    unsigned char mac[SHA256_BYTES];
};

enum refusal {
    REFUSAL_NONE,
    REFUSAL_PROTOCOL, /* other messages, or another order of bytes */
    REFUSAL_SECRET,
    /* the peer knows the secret: these fail the job */
    REFUSAL_VERSION,
    REFUSAL_SIZE,
    REFUSAL_RANK,
    REFUSAL_TWICE,
};

struct join_reply {
    struct preamble preamble;
    uint32_t refusal;
    uint32_t size;
    char version[VERSION_BYTES];
    unsigned char nonce[NONCE_BYTES];
    unsigned char mac[SHA256_BYTES]; /* unused in the first reply */
};

enum side { SIDE_RANK, SIDE_ROOT };

/* Does the peer speak any version of this protocol; this one, in this host's
 * order of bytes? */
bool preamble_is_ours(const struct preamble *p);
bool preamble_fits(const struct preamble *p);

/* 0, or DRAIL_EJOB where there are no random numbers. */
int join_request_make(struct join_request *request, unsigned rank,
                      unsigned size);
int join_reply_make(struct join_reply *reply, unsigned size);

/* The proof of a side. reply.mac is not part of it. */
void handshake_mac(const struct secret *secret, enum side side,
                   const struct join_request *request,
                   const struct join_reply *reply,
                   unsigned char mac[SHA256_BYTES]);
bool handshake_proves(const struct secret *secret, enum side side,
                      const struct join_request *request,
                      const struct join_reply *reply,
                      const unsigned char mac[SHA256_BYTES]);

/* After a good proof: may this rank join a job of so many ranks? */
enum refusal join_request_refusal(const struct join_request *request,
                                  unsigned size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a rank and rank 0 make sure of one another before they are a job. The
 * rank says who it is, rank 0 answers with a number of its own; the rank proves
 * that it knows the job's secret, then rank 0 does. The secret itself is
 * never sent; each proof (HMAC-SHA-256) is for one side of one connection. What
 * they send afterwards is neither hidden nor signed.
 */
#ifndef DRAIL_JOB_HANDSHAKE_H
#define DRAIL_JOB_HANDSHAKE_H

#include <stdbool.h>

#include "dapl_rail/job/rendezvous/secret.h"
#include "dapl_rail/job/rendezvous/sha256.h"

#define NONCE_BYTES   16u
#define VERSION_BYTES 16u

/* At the beginning of what each side sends first. */
struct preamble {
    char magic[8];
    uint32_t protocol;
    uint32_t order; /* of bytes: all-gathers carry structures */
};

/* The rank's first message. */
struct hello {
    struct preamble preamble;
    uint32_t rank, size;
    char version[VERSION_BYTES]; /* of the library */
    unsigned char nonce[NONCE_BYTES];
};

/* ... and its second. */
struct proof {
    unsigned char mac[SHA256_BYTES];
};

enum refusal {
    REFUSAL_NONE,
    REFUSAL_PROTOCOL, /* other messages, or another order of bytes */
    REFUSAL_SECRET,
    /* by one who knows the secret: */
    REFUSAL_VERSION,
    REFUSAL_SIZE,
    REFUSAL_RANK,
    REFUSAL_TWICE,
};

/* Rank 0's messages. The first one has no proof. */
struct answer {
    struct preamble preamble;
    uint32_t refusal;
    uint32_t size;
    char version[VERSION_BYTES];
    unsigned char nonce[NONCE_BYTES];
    unsigned char mac[SHA256_BYTES];
};

enum side { SIDE_RANK, SIDE_ROOT };

/* Is it one of ours; of this protocol and order of bytes? */
bool preamble_ours(const struct preamble *p);
bool preamble_fits(const struct preamble *p);

int hello_make(struct hello *hello, unsigned rank, unsigned size);
int answer_make(struct answer *answer, unsigned size);

/* The side's proof; the answer's own is left out. */
void handshake_mac(const struct secret *secret, enum side side,
                   const struct hello *hello, const struct answer *answer,
                   unsigned char mac[SHA256_BYTES]);
bool handshake_proves(const struct secret *secret, enum side side,
                      const struct hello *hello, const struct answer *answer,
                      const unsigned char mac[SHA256_BYTES]);

/* Does rank 0, with these many ranks, take one who has proved to be this? */
enum refusal hello_refusal(const struct hello *hello, unsigned size);

#endif

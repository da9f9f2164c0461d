/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), and HMAC (RFC 2104) with it. */
#ifndef DRAIL_JOB_SHA256_H
#define DRAIL_JOB_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32u

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t bytes);
void sha256_end(struct sha256 *s, unsigned char digest[SHA256_BYTES]);

/* Between the two: sha256_add(). Both get the same key. */
void hmac_begin(struct sha256 *s, const void *key, size_t bytes);
void hmac_end(struct sha256 *s, const void *key, size_t bytes,
              unsigned char mac[SHA256_BYTES]);

#endif

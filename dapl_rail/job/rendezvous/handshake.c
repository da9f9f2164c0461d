/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <sys/random.h>

#include "dapl_rail/job/rendezvous/handshake.h"

#define PROTOCOL 1u
#define ORDER    0x01020304u

static const char magic[8] = "drailjob";

static void preamble_make(struct preamble *p)
{
    *p = (struct preamble){.protocol = PROTOCOL, .order = ORDER};
    memcpy(p->magic, magic, sizeof p->magic);
}

bool preamble_ours(const struct preamble *p)
{
    return !memcmp(p->magic, magic, sizeof magic);
}

bool preamble_fits(const struct preamble *p)
{
    return p->protocol == PROTOCOL && p->order == ORDER;
}

static int make_nonce(unsigned char nonce[NONCE_BYTES])
{
    return getrandom(nonce, NONCE_BYTES, 0) == NONCE_BYTES ? 0 : DRAIL_EJOB;
}

int hello_make(struct hello *hello, unsigned rank, unsigned size)
{
    *hello =
        (struct hello){.rank = rank, .size = size, .version = DRAIL_VERSION};
    preamble_make(&hello->preamble);
    return make_nonce(hello->nonce);
}

int answer_make(struct answer *answer, unsigned size)
{
    *answer = (struct answer){.size = size, .version = DRAIL_VERSION};
    preamble_make(&answer->preamble);
    return make_nonce(answer->nonce);
}

void handshake_mac(const struct secret *secret, enum side side,
                   const struct hello *hello, const struct answer *answer,
                   unsigned char mac[SHA256_BYTES])
{
    static const char *const names[] = {"rank", "root"};
    struct sha256 s;
    hmac_begin(&s, secret->text, secret->length);
    sha256_add(&s, names[side], 4);
    sha256_add(&s, hello, sizeof *hello);
    sha256_add(&s, answer, offsetof(struct answer, mac));
    hmac_end(&s, secret->text, secret->length, mac);
}

bool handshake_proves(const struct secret *secret, enum side side,
                      const struct hello *hello, const struct answer *answer,
                      const unsigned char mac[SHA256_BYTES])
{
    unsigned char right[SHA256_BYTES], differ = 0;
    handshake_mac(secret, side, hello, answer, right);
    /* in the same time wherever they differ */
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        differ |= (unsigned char)(right[i] ^ mac[i]);
    return !differ;
}

enum refusal hello_refusal(const struct hello *hello, unsigned size)
{
    if (strncmp(hello->version, DRAIL_VERSION, VERSION_BYTES))
        return REFUSAL_VERSION;
    if (hello->size != size)
        return REFUSAL_SIZE;
    return hello->rank < 1 || hello->rank >= size ? REFUSAL_RANK : REFUSAL_NONE;
}

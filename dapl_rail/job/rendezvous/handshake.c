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

bool preamble_is_ours(const struct preamble *p)
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

int join_request_make(struct join_request *request, unsigned rank,
                      unsigned size)
{
    *request = (struct join_request){
        .rank = rank, .size = size, .version = DRAIL_VERSION};
    preamble_make(&request->preamble);
    return make_nonce(request->nonce);
}

int join_reply_make(struct join_reply *reply, unsigned size)
{
    *reply = (struct join_reply){.size = size, .version = DRAIL_VERSION};
    preamble_make(&reply->preamble);
    return make_nonce(reply->nonce);
}

void handshake_mac(const struct secret *secret, enum side side,
                   const struct join_request *request,
                   const struct join_reply *reply,
                   unsigned char mac[SHA256_BYTES])
{
    static const char *const names[] = {"rank", "root"};
    struct sha256 s;
    hmac_begin(&s, secret->text, secret->length);
    sha256_add(&s, names[side], 4);
    sha256_add(&s, request, sizeof *request);
    sha256_add(&s, reply, offsetof(struct join_reply, mac));
    hmac_end(&s, secret->text, secret->length, mac);
}

bool handshake_proves(const struct secret *secret, enum side side,
                      const struct join_request *request,
                      const struct join_reply *reply,
                      const unsigned char mac[SHA256_BYTES])
{
    unsigned char right[SHA256_BYTES], differ = 0;
    handshake_mac(secret, side, request, reply, right);
    /* constant time: it must not tell where they differ */
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        differ |= (unsigned char)(right[i] ^ mac[i]);
    return !differ;
}

enum refusal join_request_refusal(const struct join_request *request,
                                  unsigned size)
{
    if (strncmp(request->version, DRAIL_VERSION, VERSION_BYTES))
        return REFUSAL_VERSION;
    if (request->size != size)
        return REFUSAL_SIZE;
    return request->rank < 1 || request->rank >= size ? REFUSAL_RANK
                                                      : REFUSAL_NONE;
}

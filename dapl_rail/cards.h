/* SPDX-License-Identifier: BSD-3-Clause */
/* The cards that ranks exchange: what each says of its rails. */
#ifndef DRAIL_CARDS_H
#define DRAIL_CARDS_H

#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/rendezvous/host.h"

/* Settings that must be the same in all ranks. */
struct agreed {
    uint32_t depth, eager_bytes, eps, extensions;
};

/* How to reach one rail of a rank. */
struct card {
    char name[DRAIL_NAME_MAX];
    char fabric[DRAIL_NAME_MAX], network[DRAIL_NAME_MAX];
    bool host_only; /* it reaches only its own host */
    DAT_CONN_QUAL conn_qual;
    struct sockaddr_storage address;
};

/* The contribution of a rank. Mostly all ranks are of the same kind: they have
 * rails of the same names, fabrics and networks in the same order, and the same
 * settings. */
struct card_set {
    uint32_t version; /* at this place in all versions */
    int32_t error;    /* of this rank's rails; or 0 */
    uint64_t id;      /* rank 0's becomes that of the transport */
    uint64_t kind;    /* a checksum */
    uint32_t nrails;
    uint32_t depth;         /* that fits in this rank */
    uint32_t address_bytes; /* of the longest address */
    struct agreed agreed;
    unsigned char host[HOST_BYTES];
    char host_name[64];
    struct card cards[DRAIL_MAX_RAILS];
};

/* order[r] becomes the counterpart in `set` of rail r of `first`; the best
 * matches are made first. NULL: all rails have one. Else the first card without
 * one, and the set that has it. */
const struct card *cards_match(const struct card_set *first,
                               const struct card_set *set, unsigned *order,
                               const struct card_set **whose);

#endif

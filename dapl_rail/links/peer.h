/* SPDX-License-Identifier: BSD-3-Clause */
/* Another rank, and the links to it. */
#ifndef DRAIL_LINKS_PEER_H
#define DRAIL_LINKS_PEER_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "dapl_rail/links/link.h"
#include "dapl_rail/messages/inbox.h"

/* How to reach one rail of a rank. */
struct card {
    char name[DRAIL_NAME_MAX];
    DAT_CONN_QUAL conn_qual;
    struct sockaddr_storage address;
};

struct peer {
    unsigned rank;
    bool connected;
    _Atomic int error; /* first error of one of its links */
    _Atomic unsigned error_rail;
    struct card *cards; /* nrails of them */
    struct link *links[DRAIL_MAX_RAILS];
    struct inbox notes, messages;
    uint32_t note_seq, message_seq; /* of the next that we send */
    uint32_t rendezvous;            /* we started so many */
    _Atomic uint32_t finished;      /* the peer finished so many */
};

/* A connected peer by rank, or NULL with the error set in *rc. */
struct peer *peer_get(drail_t *t, unsigned rank, int *rc);
void peer_free(drail_t *t, struct peer *peer);
/* Looks for connection events and asynchronous errors. */
void rail_check(struct rail *rail);

#endif

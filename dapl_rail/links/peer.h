/* SPDX-License-Identifier: BSD-3-Clause */
/* Another rank, and the links to it. */
#ifndef DRAIL_LINKS_PEER_H
#define DRAIL_LINKS_PEER_H

#include <stdatomic.h>
#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/dapl_rail.h"

struct mailbox;

/* How to reach one rail of a rank. */
struct card {
    char name[DRAIL_NAME_MAX];
    DAT_CONN_QUAL conn_qual;
    struct sockaddr_storage address;
};

struct peer {
    drail_t *owner;
    unsigned rank;
    bool connected;
    _Atomic int error; /* first error of one of its links */
    _Atomic unsigned error_rail;
    char refused[200];  /* why we don't want it, "" else */
    struct card *cards; /* nrails of them */
    struct link *links[DRAIL_MAX_RAILS];
    struct mailbox *mail; /* the layer above's */
};

#endif

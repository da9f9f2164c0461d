/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rails a message may use, and who drives them. */
#ifndef DRAIL_STRIPE_WAY_H
#define DRAIL_STRIPE_WAY_H

#include "dapl_rail/dapl_rail.h"

struct choice;

struct way {
    uint32_t rails;        /* that may carry the message: the policy cuts it */
    bool threads;          /* a thread drives each of those that carry a part */
    bool timed;            /* this message is to be timed */
    unsigned slot;         /* of the rails' rates */
    struct choice *choice; /* that has said so; NULL: the settings did */
};

/* Of a message of so many bytes, an RDMA read or a write, if it started now. */
struct way way_of(const drail_t *t, bool reads, size_t bytes);
/* Of so many messages that do start now. */
struct way way_next(drail_t *t, bool reads, size_t bytes, unsigned messages);
/* Of the long messages of late. */
struct way way_lately(const drail_t *t);

#endif

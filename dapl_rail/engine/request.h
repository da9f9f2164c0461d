/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a drail_req_t: the state of one operation. */
#ifndef DRAIL_ENGINE_REQUEST_H
#define DRAIL_ENGINE_REQUEST_H

#include <stdatomic.h>

#include "dapl_rail/dapl_rail.h"

struct completion;
struct link;
struct peer;

struct req {
    _Atomic uint32_t pending; /* rails whose last DTO has not completed */
    _Atomic int status;
    uint32_t peer;
    uint8_t left[DRAIL_MAX_RAILS]; /* EPs of each that are not complete */
};

_Static_assert(sizeof(struct req) <= sizeof(drail_req_t),
               "drail_req_t is too small");

static inline struct req *req_of(drail_req_t *opaque)
{
    return (struct req *)opaque;
}

/* Starts a request, which is complete when a DTO is on so many EPs of each of
 * these rails. */
void req_start(struct req *req, const struct peer *peer, uint32_t rails,
               unsigned eps);
/* A completion.ended: an EP's part of the request, and of the timed message, is
 * complete. */
void req_part_ended(struct link *link, const struct completion *done,
                    int status);
/* An owed_t. */
int req_owed(drail_t *t, void *arg, uint32_t *owed);

#endif

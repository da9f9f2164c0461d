/* SPDX-License-Identifier: BSD-3-Clause */
/* What a drail_req_t holds. */
#ifndef DRAIL_ENGINE_REQUEST_H
#define DRAIL_ENGINE_REQUEST_H

#include <stdatomic.h>

#include "dapl_rail/dapl_rail.h"

struct peer;

/* What a drail_req_t holds. */
struct req {
    _Atomic uint32_t pending; /* rails whose last DTO has not completed */
    _Atomic int status;
    uint32_t peer;
};

int req_owed(drail_t *t, void *arg, uint32_t *owed);
void req_start(drail_req_t *opaque, struct peer *peer, uint32_t rails);
static inline struct req *req_of(drail_req_t *opaque)
{
    return (struct req *)opaque;
}

#endif

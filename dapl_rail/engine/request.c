/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/engine/request.h"

#include <string.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/stripe/tuning/timing.h"

void req_start(struct req *req, const struct peer *peer, uint32_t rails,
               unsigned eps)
{
    atomic_init(&req->pending, rails);
    atomic_init(&req->status, 0);
    req->peer = peer->rank;
    memset(req->left, (int)eps, sizeof req->left);
}

void req_part_ended(struct link *link, const struct completion *done,
                    int status)
{
    struct rail *rail = link->rail;
    struct req *req = done->req;
    if (done->message && !--done->message->left[rail->index])
        timing_part(rail->owner, rail->index, done->message, done->start_ns,
                    done->bytes, !status);
    if (!req)
        return;
    if (status)
        atomic_store_explicit(&req->status, status, memory_order_relaxed);
    if (--req->left[rail->index])
        return;
    atomic_fetch_and_explicit(&req->pending, ~RAIL_BIT(rail->index),
                              memory_order_release);
}

int req_owed(drail_t *t, void *arg, uint32_t *owed)
{
    struct req *req = arg;
    (void)t;
    *owed = atomic_load_explicit(&req->pending, memory_order_acquire);
    if (*owed)
        return 0;
    int status = atomic_load_explicit(&req->status, memory_order_relaxed);
    return status ? status : 1;
}

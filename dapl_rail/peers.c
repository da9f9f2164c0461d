/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/peers.h"

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/connect.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/peer.h"

struct peer *peer_find(drail_t *t, unsigned rank, int *rc)
{
    *rc = DRAIL_EINVAL;
    if (!t)
        return NULL;
    if (rank >= t->job->size || rank == t->job->rank) {
        fail(t, DRAIL_EINVAL, "rank %u is not another of %u ranks", rank,
             t->job->size);
        return NULL;
    }
    struct peer *peer = t->peers[rank];
    if (!peer)
        peer = peer_meet(t, rank);
    *rc = peer ? 0 : fail(t, DRAIL_ENOMEM, "out of memory");
    return peer;
}

struct peer *peer_get_any(drail_t *t, unsigned rank, int timeout_ms, int *rc)
{
    struct peer *peer = peer_find(t, rank, rc);
    if (!peer || peer->connected)
        return peer;
    if (timeout_ms < 0)
        timeout_ms = t->cfg.connect_timeout_ms;
    *rc = connection_make(t, peer, timeout_ms);
    return *rc ? NULL : peer;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* How public calls on a peer begin. */
#ifndef DRAIL_PEERS_H
#define DRAIL_PEERS_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/peer.h"

/* Another rank, or NULL with the error set in *rc. */
struct peer *peer_find(drail_t *t, unsigned rank, int *rc);
/* The same, connected: if need be, now, within this time. 0: DRAIL_EAGAIN where
 * it is not there yet; negative: that of connecting. */
struct peer *peer_get_any(drail_t *t, unsigned rank, int timeout_ms, int *rc);
/* Inline as of each put: mostly it is there. */
static inline struct peer *peer_get(drail_t *t, unsigned rank, int timeout_ms,
                                    int *rc)
{
    struct peer *peer = t && rank < t->job->size ? t->peers[rank] : NULL;
    *rc = 0;
    return peer && peer->connected ? peer
                                   : peer_get_any(t, rank, timeout_ms, rc);
}

#endif

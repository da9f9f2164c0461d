/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer of a public call, and its connection. */
#ifndef DRAIL_CONNECTION_H
#define DRAIL_CONNECTION_H

#include "dapl_rail/base/handle.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/peer.h"

/* The peer, or NULL with the error in *rc. */
struct peer *peer_find(drail_t *t, unsigned rank, int *rc);
/* The same, connected within timeout_ms if it is not yet. 0: DRAIL_EAGAIN if it
 * is not there at once; negative: connect_timeout_ms. */
struct peer *peer_connected(drail_t *t, unsigned rank, int timeout_ms, int *rc);
/* The same, inline for each put: mostly the peer is connected. */
static inline struct peer *peer_get(drail_t *t, unsigned rank, int timeout_ms,
                                    int *rc)
{
    struct peer *peer = t && rank < t->job->size ? t->peers[rank] : NULL;
    *rc = 0;
    return peer && peer->connected ? peer
                                   : peer_connected(t, rank, timeout_ms, rc);
}

#endif

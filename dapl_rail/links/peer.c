/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/peer.h"

#include <stdlib.h>

#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/roster.h"

struct peer *peer_new(const drail_t *t)
{
    unsigned lanes = t->nrails * t->cfg.eps;
    return calloc(1, sizeof(struct peer) + lanes * sizeof(struct lane));
}

struct peer *peer_meet(drail_t *t, unsigned rank)
{
    struct peer *peer = t->peers[rank];
    if (peer)
        return peer;
    peer = t->spare ? t->spare : peer_new(t);
    if (!peer)
        return NULL;
    t->spare = peer_new(t);
    peer->owner = t;
    peer->rank = rank;
    peer->inside = roster_between(t, t->job->rank, rank);
    peer->outside = roster_outside(t, t->job->rank, rank);
    if (peer->outside == peer->inside)
        peer->outside = 0;
    /* no change: this was assumed before the peer was met */
    peer->rails = peer->inside;
    atomic_init(&peer->up, peer->inside);
    peer_seek(peer);
    peer->next = t->met;
    t->peers[rank] = t->met = peer;
    return peer;
}

void peer_seek(struct peer *peer)
{
    if (peer->sought)
        return;
    peer->sought = true;
    peer->next_sought = peer->owner->sought;
    peer->owner->sought = peer;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/pick_rail.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/stripe/tuning/cut.h"
#include "dapl_rail/stripe/tuning/timing.h"

static uint64_t under_way(const struct peer *peer, unsigned rail)
{
    const struct link *link;
    uint64_t requests = 0;
    for (unsigned at = 0; (link = peer_next(peer, RAIL_BIT(rail), &at));)
        requests += queue_under_way(&link->queue);
    return requests;
}

/* Assumes that each request under way is as long as this message. */
unsigned pick_rail(const struct peer *peer, uint32_t rails, size_t bytes)
{
    drail_t *t = peer->owner;
    uint64_t requests[DRAIL_MAX_RAILS];
    double weights[DRAIL_MAX_RAILS];
    unsigned first = short_rail(t, rails);
    if (!cut_spreads(t, rails, bytes) ||
        under_way(peer, first) < SPREAD_REQUESTS)
        return first;
    for (unsigned r = 0; r < t->nrails; r++)
        requests[r] = under_way(peer, r);
    cut_whole(t, rails, bytes, weights);
    return soonest_rail(t->nrails, weights, requests);
}

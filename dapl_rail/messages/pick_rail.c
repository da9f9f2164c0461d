/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/pick_rail.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/stripe/tuning/cut.h"
#include "dapl_rail/stripe/tuning/pace.h"
#include "dapl_rail/stripe/tuning/timing.h"

/* Requests posted on a rail, and those of them under way. */
static uint64_t count(const struct peer *peer, unsigned rail,
                      uint64_t *under_way)
{
    const struct link *link;
    uint64_t posted = 0;
    *under_way = 0;
    for (unsigned at = 0; (link = peer_next(peer, RAIL_BIT(rail), &at));) {
        posted += link->queue.posted;
        *under_way += queue_under_way(&link->queue);
    }
    return posted;
}

/* Assumes that each request under way is as long as this message. */
unsigned pick_sooner_rail(const struct peer *peer, uint32_t rails, size_t bytes)
{
    drail_t *t = peer->owner;
    uint64_t posted[DRAIL_MAX_RAILS], complete[DRAIL_MAX_RAILS], all = 0;
    double weights[DRAIL_MAX_RAILS];
    for (unsigned r = 0; r < t->nrails; r++) {
        uint64_t under_way;
        posted[r] = count(peer, r, &under_way);
        complete[r] = posted[r] - under_way;
        all += under_way;
    }
    if (all < SPREAD_REQUESTS)
        return short_rail(t, rails);
    cut_whole(t, rails, bytes, weights);
    return pace_pick(&t->timing->pace, peer, t->nrails, weights, posted,
                     complete);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_rail_stats: counts and the state of a rail. */
#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/cut.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/timing.h"

const char *drail_rail_state_name(drail_rail_state_t state)
{
    static const char *const names[] = {"up",   "connecting", "detour",
                                        "lost", "ended",      "down"};
    return state <= DRAIL_RAIL_DOWN ? names[state] : "unknown";
}

/* Have all links to the peer ended? */
static bool has_ended(const struct peer *peer)
{
    const struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        if (link->state < LINK_DOWN)
            return false;
    return true;
}

static drail_rail_state_t state_of(const struct link *link)
{
    if (link->state <= LINK_UP)
        return DRAIL_RAIL_UP;
    if (link->state >= LINK_DOWN)
        return has_ended(link->peer) ? DRAIL_RAIL_ENDED : DRAIL_RAIL_DOWN;
    if (!link->failover->loss.synced)
        return DRAIL_RAIL_LOST;
    return link->ep.state == EP_CONNECTING || link->ep.state == EP_UP
               ? DRAIL_RAIL_CONNECTING
               : DRAIL_RAIL_DETOUR;
}

void drail_rail_stats(const drail_t *t, unsigned index,
                      drail_rail_stats_t *stats)
{
    double weights[DRAIL_MAX_RAILS], sum = 0;
    struct route route = route_lately(t);
    memset(stats, 0, sizeof *stats);
    if (index >= t->nrails)
        return;
    const struct rail *rail = &t->rails[index];
    *stats = rail->stats;
    cut_weights(t, weights);
    for (unsigned r = 0; r < t->nrails; r++)
        sum += weights[r];
    stats->weight = sum > 0 ? weights[index] / sum : 0;
    stats->measured_MBps =
        t->timing->rails[index].rate[route.slot] * 1e3; /* 10^6 bytes/s */
    for (const struct peer *peer = t->met; peer; peer = peer->next) {
        const struct link *link;
        unsigned at = 0;
        while ((link = peer_next(peer, RAIL_BIT(index), &at))) {
            drail_rail_state_t state = state_of(link);
            stats->links += link->state >= LINK_UP;
            stats->links_up += link->state == LINK_UP;
            if (state > stats->state)
                stats->state = state;
        }
    }
    if (rail->lost_links)
        stats->down_ns += job_now(t->job) - rail->lost_since_ns;
    stats->up = stats->state == DRAIL_RAIL_UP;
}

uint64_t drail_moved(const drail_t *t, unsigned rank)
{
    const struct peer *peer = rank < t->job->size ? t->peers[rank] : NULL;
    uint64_t completed = 0;
    if (rank != t->job->rank)
        return peer
                   ? atomic_load_explicit(&peer->progress, memory_order_relaxed)
                   : 0;
    for (peer = t->met; peer; peer = peer->next)
        completed += peer_completed(peer, UINT32_MAX);
    return completed;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/final_counts.h"

#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"

/* The count of a link goes over the next rail that is up, so that each rail
 * brings few; if there is none, over the next EP. */
static struct link *way_for(const struct peer *peer, const struct link *link)
{
    unsigned n = peer->owner->nrails;
    for (unsigned d = 1; d <= n; d++) {
        unsigned r = (link->rail->index + d) % n;
        unsigned e = (link->index + (d == n)) % peer->owner->cfg.eps;
        struct link *way = peer_link(peer, r, e);
        if (way && way != link && way->ep.state == EP_UP)
            return way;
    }
    return NULL;
}

void final_counts_send(const struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        struct link *way = way_for(peer, link);
        const struct wire wire = {.type = WIRE_FINAL_COUNT,
                                  .lane = (uint16_t)lane_number(link),
                                  .bytes = link->credits.received};
        if (way && way->journal.records && link->credits.received)
            carrier_send(way, NULL, 0, &wire, NULL, 0);
    }
}

void final_count_arrived(struct link *link, const struct wire *wire)
{
    struct loss *loss = &link->failover->loss;
    if (wire->bytes > loss->peer_received)
        loss->peer_received = wire->bytes;
}

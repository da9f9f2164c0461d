/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/final_counts.h"

#include "dapl_rail/links/failover/carrier.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"

/* On the next rail that is up, so that each tells of few; else the next EP. */
static struct link *way_beside(const struct peer *peer, const struct link *lane)
{
    unsigned n = peer->owner->nrails;
    for (unsigned d = 1; d <= n; d++) {
        unsigned r = (lane->rail->index + d) % n;
        unsigned e = (lane->index + (d == n)) % peer->owner->cfg.eps;
        struct link *way = peer_link(peer, r, e);
        if (way && way != lane && way->ep_state == EP_UP)
            return way;
    }
    return NULL;
}

void farewell_send(const struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        struct link *way = way_beside(peer, link);
        const struct wire wire = {.type = WIRE_FAREWELL,
                                  .lane = (uint16_t)lane_number(link),
                                  .bytes = link->received};
        if (way && way->journal && link->received)
            carrier_send(way, NULL, 0, &wire, NULL, 0);
    }
}

void farewell_arrived(struct link *lane, const struct wire *wire)
{
    if (wire->bytes > lane->lost->received)
        lane->lost->received = wire->bytes;
}

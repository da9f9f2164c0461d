/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/timing.h"
#include "dapl_rail/stripe/way.h"
#include "dapl_rail/stripe/weights.h"

void drail_rail_stats(const drail_t *t, unsigned index,
                      drail_rail_stats_t *stats)
{
    double weights[DRAIL_MAX_RAILS], sum = 0;
    struct way way = way_lately(t);
    memset(stats, 0, sizeof *stats);
    if (index >= t->nrails)
        return;
    const struct rail *rail = &t->rails[index];
    *stats = rail->stats;
    weights_now(t, weights);
    for (unsigned r = 0; r < t->nrails; r++)
        sum += weights[r];
    stats->weight = sum > 0 ? weights[index] / sum : 0;
    stats->measured_MBps =
        t->timing->rails[index].rate[way.slot] * 1e3; /* 10^6 bytes/s */
    stats->up = true;
    for (unsigned p = 0; p < t->job->size; p++) {
        const struct link *link;
        unsigned at = 0;
        while ((link = peer_next(&t->peers[p], RAIL_BIT(index), &at)))
            if (link->state > LINK_UP)
                stats->up = false;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/stripe/tuning/pace.h"

#include <math.h>
#include <stddef.h>

#define STEP  1.0625
#define LEAST 0.03125

unsigned soonest_rail(unsigned nrails, const double *weights,
                      const uint64_t *under_way)
{
    unsigned soonest = 0;
    double end = INFINITY;
    for (unsigned r = 0; r < nrails; r++) {
        double ends =
            weights[r] > 0 ? (double)(under_way[r] + 1) / weights[r] : INFINITY;
        if (ends < end) {
            end = ends;
            soonest = r;
        }
    }
    return soonest;
}

static double share_of(const struct pace *p, unsigned rail)
{
    return p->share[rail] > 0 ? p->share[rail] : 1;
}

/* The largest share stays 1. */
static void enlarge(struct pace *p, unsigned nrails, unsigned rail)
{
    double share = share_of(p, rail) * STEP, scale = share > 1 ? share : 1;
    for (unsigned r = 0; r < nrails; r++) {
        double scaled = (r == rail ? share : share_of(p, r)) / scale;
        p->share[r] = scaled > LEAST ? scaled : LEAST;
    }
}

/* The rail has completed all. Has it overtaken another one? */
static bool has_overtaken(const struct pace *p, const void *peer, unsigned rail,
                          const uint64_t *complete)
{
    return p->latest[rail].peer == peer &&
           complete[p->latest[rail].other] < p->latest[rail].posted;
}

unsigned pace_pick(struct pace *p, const void *peer, unsigned nrails,
                   const double *weights, const uint64_t *posted,
                   const uint64_t *complete)
{
    uint64_t under_way[DRAIL_MAX_RAILS] = {0};
    double scaled[DRAIL_MAX_RAILS] = {0}, longest = 0;
    for (unsigned r = 0; r < nrails; r++) {
        under_way[r] = posted[r] - complete[r];
        if (under_way[r])
            continue;
        if (has_overtaken(p, peer, r, complete))
            enlarge(p, nrails, r);
        p->latest[r].peer = NULL; /* each message counts once */
    }
    for (unsigned r = 0; r < nrails; r++)
        scaled[r] = weights[r] * share_of(p, r);
    unsigned rail = soonest_rail(nrails, scaled, under_way);
    p->latest[rail].peer = NULL;
    for (unsigned r = 0; r < nrails; r++) {
        double ends = weights[r] > 0 ? (double)under_way[r] / scaled[r] : 0;
        if (r == rail || ends <= longest)
            continue;
        longest = ends;
        p->latest[rail].peer = peer;
        p->latest[rail].other = r;
        p->latest[rail].posted = posted[r];
    }
    return rail;
}

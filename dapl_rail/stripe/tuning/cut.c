/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Weights of policy adaptive are the rates of the rails (rail_rate.h). If
 * earlier messages are still under way, the message is cut so that all rails
 * end at the same time (waterfill.h).
 */
#include <string.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/cut.h"
#include "dapl_rail/stripe/tuning/rail_rate.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/tuners.h"
#include "dapl_rail/stripe/tuning/waterfill.h"

static void equal(const drail_t *t, double *weights)
{
    for (unsigned r = 0; r < t->nrails; r++)
        weights[r] = 1;
}

static void configured(const drail_t *t, double *weights)
{
    double sum = 0;
    bool nominal = true;
    for (unsigned r = 0; r < t->nrails; r++) {
        sum += t->cfg.weights[r];
        nominal = nominal && t->rails[r].info.nominal_MBps > 0;
    }
    for (unsigned r = 0; r < t->nrails; r++)
        weights[r] = sum > 0   ? t->cfg.weights[r]
                     : nominal ? t->rails[r].info.nominal_MBps
                               : 1;
}

/* A rail without a measured rate counts as the mean of the others. Each rail of
 * the set gets some part, so that it is measured: the tuner decides whether the
 * rail is in the set at all. */
static void measured(const drail_t *t, unsigned slot, uint32_t set,
                     double *weights)
{
    double sum = 0, total = 0;
    unsigned n = 0;
    for (unsigned r = 0; r < t->nrails; r++) {
        weights[r] = set & RAIL_BIT(r) ? t->timing->rails[r].rate[slot] : 0;
        sum += weights[r];
        n += weights[r] > 0;
    }
    for (unsigned r = 0; r < t->nrails; r++) {
        if (set & RAIL_BIT(r) && weights[r] <= 0)
            weights[r] = n ? sum / n : 1;
        total += weights[r];
    }
    for (unsigned r = 0; r < t->nrails; r++)
        if (set & RAIL_BIT(r) && weights[r] < WATERFILL_LEAST * total)
            weights[r] = WATERFILL_LEAST * total;
}

/* Leaves only the rails of this set. If all their weights are 0, they are
 * equal.
 */
static void restrict_to(const drail_t *t, uint32_t set, double *weights)
{
    double sum = 0;
    for (unsigned r = 0; r < t->nrails; r++) {
        if (!(set & RAIL_BIT(r)))
            weights[r] = 0;
        sum += weights[r];
    }
    for (unsigned r = 0; sum <= 0 && r < t->nrails; r++)
        weights[r] = set & RAIL_BIT(r) ? 1 : 0;
}

static void weigh(const drail_t *t, const struct route *route, double *weights)
{
    if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE)
        measured(t, route->slot, route->rails, weights);
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED)
        configured(t, weights);
    else
        equal(t, weights);
    restrict_to(t, route->rails, weights);
}

/* In a stream: parts under way count, too. */
static void level_out(const drail_t *t, size_t bytes, double *weights)
{
    const struct rail_rate *rates = t->timing->rails;
    double backlog[DRAIL_MAX_RAILS];
    if (!timing_under_way(t))
        return;
    uint64_t now = job_now(t->job);
    for (unsigned r = 0; r < t->nrails; r++)
        backlog[r] = rail_rate_backlog(&rates[r], weights[r], now);
    waterfill(t->nrails, weights, backlog, (double)bytes, weights);
}

void cut_weights(const drail_t *t, double weights[DRAIL_MAX_RAILS])
{
    struct route route = route_lately(t);
    memset(weights, 0, DRAIL_MAX_RAILS * sizeof *weights);
    if (several_rails(route.rails))
        weigh(t, &route, weights);
    else
        weights[__builtin_ctz(route.rails)] = 1;
}

int cut_message(drail_t *t, size_t bytes, const struct route *route,
                drail_chunk_t chunks[DRAIL_MAX_RAILS])
{
    double weights[DRAIL_MAX_RAILS];
    drail_stripe_t stripe = {
        .policy = t->cfg.policy,
        .nrails = t->nrails,
        .weights = weights,
        .threshold = t->cfg.stripe_threshold,
        .align = t->cfg.stripe_align,
    };
    if (cut_is_plain(t, bytes, route->rails)) {
        chunks[0] = (drail_chunk_t){
            .rail = (unsigned)__builtin_ctz(route->rails), .bytes = bytes};
        return 1;
    }
    if (stripe.policy == DRAIL_POLICY_ROUNDROBIN)
        stripe.turn = t->turn++;
    weigh(t, route, weights);
    if (bytes && t->cfg.policy == DRAIL_POLICY_ADAPTIVE &&
        bytes >= t->cfg.stripe_threshold)
        level_out(t, bytes, weights);
    return drail_stripe(&stripe, bytes, chunks);
}

unsigned cut_whole(const drail_t *t, uint32_t rails, size_t bytes,
                   double weights[DRAIL_MAX_RAILS])
{
    struct route route = {.rails = rails,
                          .slot = rate_slot(t, false, size_class(bytes))};
    weigh(t, &route, weights);
    return route.slot;
}

int cut_parts(const drail_t *t, uint32_t rails, size_t bytes,
              drail_chunk_t chunks[DRAIL_MAX_RAILS])
{
    double weights[DRAIL_MAX_RAILS];
    cut_whole(t, rails, bytes, weights);
    const drail_stripe_t stripe = {
        .policy = DRAIL_POLICY_WEIGHTED,
        .nrails = t->nrails,
        .weights = weights,
        .align = t->cfg.stripe_align,
    };
    return drail_stripe(&stripe, bytes, chunks);
}

unsigned short_rail_cut(drail_t *t, const struct route *route)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    cut_message(t, 0, route, chunks);
    return chunks[0].rail;
}

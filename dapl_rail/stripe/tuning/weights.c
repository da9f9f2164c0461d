/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The present policy: with what weights a message is cut for the rails that it
 * may use. Adaptive weights are the rates at which these finished their parts
 * of striped messages, smoothed exponentially; where earlier messages are still
 * under way, the rails are to end this one with all before it at the same time.
 */
#include <string.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/waterfill.h"
#include "dapl_rail/stripe/tuning/rail_rate.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/way.h"
#include "dapl_rail/stripe/tuning/weights.h"

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

/* A rail that has not been measured counts as the mean of the others. One that
 * is used gets some part, so that it is measured: whether it should be used at
 * all is for choose.c to find out. */
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
        if (set & RAIL_BIT(r) && weights[r] < LEVEL_LEAST * total)
            weights[r] = LEVEL_LEAST * total;
}

/* Where the rails that are left have no weights, they are alike. */
static void without(const drail_t *t, uint32_t set, double *weights)
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

static void weigh(const drail_t *t, const struct way *way, double *weights)
{
    if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE)
        measured(t, way->slot, way->rails, weights);
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED)
        configured(t, weights);
    else
        equal(t, weights);
    without(t, way->rails, weights);
}

/* Of a stream of messages: what is under way counts, too. */
static void level_out(const drail_t *t, size_t bytes, double *weights)
{
    const struct rates *rates = t->timing->rails;
    double backlog[DRAIL_MAX_RAILS];
    if (!timing_under_way(t))
        return;
    uint64_t now = job_now(t->job);
    for (unsigned r = 0; r < t->nrails; r++)
        backlog[r] = rates_backlog(&rates[r], weights[r], now);
    level(t->nrails, weights, backlog, (double)bytes, weights);
}

void weights_now(const drail_t *t, double weights[DRAIL_MAX_RAILS])
{
    struct way way = way_lately(t);
    memset(weights, 0, DRAIL_MAX_RAILS * sizeof *weights);
    if (several_rails(way.rails))
        weigh(t, &way, weights);
    else
        weights[__builtin_ctz(way.rails)] = 1;
}

int cut(drail_t *t, size_t bytes, const struct way *way,
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
    if (cut_is_plain(t, bytes, way->rails)) {
        chunks[0] = (drail_chunk_t){.rail = (unsigned)__builtin_ctz(way->rails),
                                    .bytes = bytes};
        return 1;
    }
    if (stripe.policy == DRAIL_POLICY_ROUNDROBIN)
        stripe.turn = t->turn++;
    weigh(t, way, weights);
    if (bytes && t->cfg.policy == DRAIL_POLICY_ADAPTIVE &&
        bytes >= t->cfg.stripe_threshold)
        level_out(t, bytes, weights);
    return drail_stripe(&stripe, bytes, chunks);
}

unsigned short_rail(drail_t *t, uint32_t reach)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    struct way way = way_of(t, reach, false, 0);
    cut(t, 0, &way, chunks);
    return chunks[0].rail;
}

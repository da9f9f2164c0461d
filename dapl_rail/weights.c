/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The present policy: which rails a message is cut for, and with what
 * weights. Adaptive weights are the rates at which the rails finished their
 * parts of striped messages, smoothed exponentially.
 */
#include <string.h>

#include "internal.h"

/* Weight of the latest measurement: 20 messages after a change of rate, 0.3 %
 * of the old one are left. */
#define SMOOTHING   0.25
#define PROBE_EVERY 32 /* messages until a rail that is left out is tried */

void weights_measure(struct rail *rail, uint64_t bytes, uint64_t ns)
{
    double rate = ns ? (double)bytes / (double)ns : 0;
    rail->stats.busy_ns += ns;
    if (rate <= 0)
        return;
    rail->rate =
        rail->rate > 0 ? rail->rate + SMOOTHING * (rate - rail->rate) : rate;
}

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

/* A rail that has not been measured counts as the mean of the others. */
static void measured(const drail_t *t, double *weights)
{
    double sum = 0;
    unsigned n = 0;
    for (unsigned r = 0; r < t->nrails; r++)
        if (t->rails[r].rate > 0) {
            sum += t->rails[r].rate;
            n++;
        }
    for (unsigned r = 0; r < t->nrails; r++)
        weights[r] = t->rails[r].rate > 0 ? t->rails[r].rate : n ? sum / n : 1;
}

void weights_now(const drail_t *t, double weights[DRAIL_MAX_RAILS])
{
    memset(weights, 0, DRAIL_MAX_RAILS * sizeof *weights);
    if (t->cfg.engine == DRAIL_ENGINE_SINGLE ||
        t->cfg.policy == DRAIL_POLICY_FIXED)
        weights[t->cfg.fixed_rail] = 1;
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED)
        configured(t, weights);
    else if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE)
        measured(t, weights);
    else
        equal(t, weights);
}

/*
 * A rail whose share would be too small to be worth a DTO is left out, but
 * every so often it gets the least share, to see whether it has become better.
 */
static void leave_out(drail_t *t, size_t bytes, double *weights)
{
    double sum = 0, most = 0;
    double least = (double)t->cfg.stripe_threshold / t->nrails;
    bool probe = ++t->striped % PROBE_EVERY == 0;
    for (unsigned r = 0; r < t->nrails; r++) {
        sum += weights[r];
        most = weights[r] > most ? weights[r] : most;
    }
    for (unsigned r = 0; r < t->nrails; r++)
        if (weights[r] < most && (double)bytes * weights[r] / sum < least)
            weights[r] = probe ? sum * least / (double)bytes : 0;
}

int cut(drail_t *t, size_t bytes, drail_chunk_t chunks[DRAIL_MAX_RAILS])
{
    double weights[DRAIL_MAX_RAILS];
    drail_stripe_t stripe = {
        .policy = t->cfg.policy,
        .nrails = t->nrails,
        .threshold = t->cfg.stripe_threshold,
        .turn = t->cfg.fixed_rail,
    };
    if (t->cfg.engine == DRAIL_ENGINE_SINGLE)
        stripe.policy = DRAIL_POLICY_FIXED;
    switch (stripe.policy) {
    case DRAIL_POLICY_EVEN:
    case DRAIL_POLICY_FIXED:
        break;
    case DRAIL_POLICY_ROUNDROBIN:
        stripe.turn = t->turn++;
        break;
    case DRAIL_POLICY_WEIGHTED:
    case DRAIL_POLICY_ADAPTIVE:
        weights_now(t, weights);
        if (stripe.policy == DRAIL_POLICY_ADAPTIVE &&
            bytes >= stripe.threshold && bytes)
            leave_out(t, bytes, weights);
        stripe.weights = weights;
        break;
    }
    return drail_stripe(&stripe, bytes, chunks);
}

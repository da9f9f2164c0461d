/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The present policy: which rails a message is cut for, and with what
 * weights. Adaptive weights are the rates at which the rails finished their
 * parts of striped messages, smoothed exponentially, for the rails that
 * choose.c has found to be worth it.
 */
#include <string.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/rates.h"
#include "dapl_rail/stripe/timing.h"
#include "dapl_rail/stripe/weights.h"

/* A rail that is used gets at least this part, so that it is measured: whether
 * it should be used at all is for choose.c to find out. */
#define LEAST 0.03125

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
        if (set & RAIL_BIT(r) && weights[r] < LEAST * total)
            weights[r] = LEAST * total;
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
        measured(t, timing_latest(t),
                 t->timing->choices[timing_latest(t)].champion, weights);
    else
        equal(t, weights);
}

/* Short messages take the best rail of those that the shortest striped ones
 * are known to go well with. */
static void adapted(const drail_t *t, size_t bytes, double *weights)
{
    bool striped = timing_applies(t, bytes);
    unsigned slot = timing_slot(t, striped ? bytes : t->cfg.stripe_threshold);
    const struct choice *choice = &t->timing->choices[slot];
    measured(t, slot, striped ? choice_set(choice) : choice->champion, weights);
}

int cut(drail_t *t, size_t bytes, drail_chunk_t chunks[DRAIL_MAX_RAILS])
{
    double weights[DRAIL_MAX_RAILS];
    drail_stripe_t stripe = {
        .policy = t->cfg.policy,
        .nrails = t->nrails,
        .threshold = t->cfg.stripe_threshold,
        .align = t->cfg.stripe_align,
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
        configured(t, weights);
        stripe.weights = weights;
        break;
    case DRAIL_POLICY_ADAPTIVE:
        adapted(t, bytes, weights);
        stripe.weights = weights;
        break;
    }
    return drail_stripe(&stripe, bytes, chunks);
}

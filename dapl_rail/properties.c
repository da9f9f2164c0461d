/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of an open transport, and settings that can change between
 * messages. */
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/limits.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/tuners.h"

void drail_interrupt(drail_t *t)
{
    atomic_store_explicit(&t->interrupted, true, memory_order_relaxed);
}

unsigned drail_nrails(const drail_t *t)
{
    return t->nrails;
}

const drail_rail_info_t *drail_rail_at(const drail_t *t, unsigned index)
{
    return index < t->nrails ? &t->rails[index].info : NULL;
}

const drail_config_t *drail_config_of(const drail_t *t)
{
    return &t->cfg;
}

int drail_set_engine(drail_t *t, drail_engine_t engine, drail_team_t team)
{
    int rc = choices_check(t, engine, team, t->cfg.policy, t->cfg.fixed_rail,
                           &t->error);
    if (rc) {
        t->last = &t->error;
        return rc;
    }
    t->cfg.engine = engine;
    t->cfg.team = team;
    tuners_team_changed(t);
    route_settle(t);
    return 0;
}

int drail_set_policy(drail_t *t, drail_policy_t policy, const double *weights,
                     unsigned fixed_rail)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    int rc = choices_check(t, t->cfg.engine, t->cfg.team, policy, fixed_rail,
                           &t->error);
    if (!rc && weights) {
        drail_stripe_t probe = {.policy = DRAIL_POLICY_WEIGHTED,
                                .nrails = t->nrails,
                                .weights = weights};
        if (drail_stripe(&probe, 1, chunks) < 0)
            rc = error_set(&t->error, DRAIL_EINVAL,
                           "weights must be 0 or more and not all 0");
    }
    if (rc) {
        t->last = &t->error;
        return rc;
    }
    t->cfg.policy = policy;
    t->cfg.fixed_rail = fixed_rail;
    if (weights) {
        memcpy(t->cfg.weights, weights, t->nrails * sizeof *weights);
        tuners_weights_changed(t);
    }
    route_settle(t);
    return 0;
}

int drail_set_waiting(drail_t *t, drail_waiting_t waiting)
{
    if (waiting > DRAIL_WAITING_SERIAL)
        return fail(t, DRAIL_EINVAL, "waiting %d is unknown", waiting);
    t->cfg.waiting = waiting;
    return 0;
}

/* How long polling has been worth while stays known. */
drail_polling_t drail_set_polling(drail_t *t, drail_polling_t polling)
{
    drail_polling_t before = t->polling;
    t->polling = polling;
    t->spin.max_ns = polling == DRAIL_POLLING_ON ? t->env.spin_us * 1000ull : 0;
    return before;
}

int drail_set_notify_by(drail_t *t, drail_notify_by_t by)
{
    int rc = notify_by_check(t, by, &t->error);
    if (rc) {
        t->last = &t->error;
        return rc;
    }
    t->cfg.notify_by = by;
    return 0;
}

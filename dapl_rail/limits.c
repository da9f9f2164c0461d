/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/limits.h"

#include <math.h>
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/rails/rail.h"

/* Receives posted on a rail for all peers: they cost memory even if unused. */
#define RECEIVES_MAX 4096u

int config_check(const drail_config_t *cfg, drail_error_t *err)
{
    if (cfg->nrails < 1 || cfg->nrails > DRAIL_MAX_RAILS)
        return error_set(err, DRAIL_EINVAL, "%u rails: allowed are 1 to %u",
                         cfg->nrails, DRAIL_MAX_RAILS);
    for (unsigned r = 0; r < cfg->nrails; r++) {
        if (!cfg->rails[r] || !*cfg->rails[r] ||
            strlen(cfg->rails[r]) >= DRAIL_NAME_MAX)
            return error_set(err, DRAIL_EINVAL, "rail %u has no valid name", r);
        for (unsigned q = 0; q < r; q++)
            if (!strcmp(cfg->rails[q], cfg->rails[r]))
                return error_set(err, DRAIL_EINVAL, "rail %s is listed twice",
                                 cfg->rails[r]);
    }
    if (cfg->eps < 1 || cfg->eps > DRAIL_MAX_EPS)
        return error_set(err, DRAIL_EINVAL,
                         "%u EPs per rail: allowed are 1 to %u", cfg->eps,
                         DRAIL_MAX_EPS);
    if (cfg->depth < DEPTH_MIN || cfg->depth > 4096)
        return error_set(err, DRAIL_EINVAL, "depth %u: allowed are 4 to 4096",
                         cfg->depth);
    if (cfg->stripe_align & (cfg->stripe_align - 1))
        return error_set(err, DRAIL_EINVAL,
                         "stripe_align %zu: allowed are 0 and powers of 2",
                         cfg->stripe_align);
    if (cfg->eager_bytes > 1u << 20 && cfg->eager_bytes != DRAIL_EAGER_AUTO)
        return error_set(err, DRAIL_EINVAL,
                         "eager_bytes %zu: allowed are 0 to 1M",
                         cfg->eager_bytes);
    double sum = 0;
    for (unsigned r = 0; r < cfg->nrails; r++) {
        sum += cfg->weights[r];
        if (!isfinite(sum) || cfg->weights[r] < 0)
            return error_set(err, DRAIL_EINVAL,
                             "weight of rail %u: must be 0 or more", r);
    }
    if (cfg->waiting > DRAIL_WAITING_SERIAL)
        return error_set(err, DRAIL_EINVAL, "waiting %d is unknown",
                         cfg->waiting);
    if (cfg->timeout_ms < 1 || cfg->connect_timeout_ms < 1)
        return error_set(err, DRAIL_EINVAL, "timeouts must be 1 ms or more");
    return 0;
}

int choices_check(const drail_t *t, drail_engine_t engine, drail_team_t team,
                  drail_policy_t policy, unsigned fixed_rail,
                  drail_error_t *err)
{
    if (engine > DRAIL_ENGINE_AUTO)
        return error_set(err, DRAIL_EINVAL, "engine %d is unknown", engine);
    if (team > DRAIL_TEAM_FORKJOIN)
        return error_set(err, DRAIL_EINVAL, "team %d is unknown", team);
    if (policy > DRAIL_POLICY_FIXED)
        return error_set(err, DRAIL_EINVAL, "policy %d is unknown", policy);
    if (fixed_rail >= t->nrails)
        return error_set(err, DRAIL_EINVAL, "fixed_rail %u: there are %u rails",
                         fixed_rail, t->nrails);
    return 0;
}

int notify_by_check(const drail_t *t, drail_notify_by_t by, drail_error_t *err)
{
    if (by > DRAIL_NOTIFY_BY_IMMED)
        return error_set(err, DRAIL_EINVAL, "notify_by %d is unknown", by);
    for (unsigned r = 0; r < t->nrails && by == DRAIL_NOTIFY_BY_IMMED; r++)
        if (!t->rails[r].write_immed)
            return error_set(err, DRAIL_ENOTSUP,
                             "notifications by immediate data: %s has no RDMA "
                             "writes with it%s",
                             t->names[r],
                             t->env.extensions ? "" : " (DRAIL_EXTENSIONS)");
    return 0;
}

int rail_limits_check(const drail_t *t, const struct rail *rail,
                      drail_error_t *err)
{
    unsigned max = rail->info.max_dto;
    if (max && t->depth_asked + spare_receives(t) > max)
        return error_set(err, DRAIL_EINVAL,
                         "depth %u: %s allows %u DTOs per EP", t->depth_asked,
                         rail->info.name, max);
    if (slot_bytes(t) > rail->info.max_message)
        return error_set(err, DRAIL_EINVAL,
                         "eager_bytes: a message of %zu bytes: %s sends at "
                         "most %lu bytes",
                         slot_bytes(t), rail->info.name,
                         (unsigned long)rail->info.max_message);
    return 0;
}

unsigned peers_of(const drail_t *t)
{
    return t->job->size > 1 ? t->job->size - 1 : 1;
}

static unsigned requests_of(const struct rail *rail, unsigned depth)
{
    unsigned max = rail->info.max_dto, wanted = depth * REQUESTS_PER_RECEIVE;
    unsigned others = link_carried_requests(rail->owner);
    return max && wanted + others > max ? max - others : wanted;
}

/* At this depth, can one EVD hold the events of all peers, and are the receives
 * of all peers few enough? */
static bool depth_fits(const drail_t *t, const struct rail *rail,
                       unsigned depth)
{
    uint64_t links = (uint64_t)peers_of(t) * t->cfg.eps;
    uint64_t events = requests_of(rail, depth) + depth + spare_receives(t) +
                      link_carried_requests(t);
    unsigned max = rail->info.max_evd_qlen;
    return links * depth <= RECEIVES_MAX && (!max || links * events <= max);
}

unsigned depth_that_fits(const drail_t *t, const struct rail *rail)
{
    unsigned depth = t->depth_asked;
    while (depth > DEPTH_MIN && !depth_fits(t, rail, depth))
        depth--;
    return depth;
}

void depth_lower(drail_t *t, unsigned depth)
{
    if (depth < t->cfg.depth)
        t->cfg.depth = depth;
    for (unsigned r = 0; r < t->nrails; r++)
        t->rails[r].request_depth = requests_of(&t->rails[r], t->cfg.depth);
}

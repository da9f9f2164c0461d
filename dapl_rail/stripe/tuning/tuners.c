/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/stripe/tuning/tuners.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/timing.h"

#define NEAR 2 /* sizes are near if they differ by so many powers of two */

/* Rails to which the policy may give data. */
static uint32_t usable(const drail_t *t, unsigned kind)
{
    uint32_t rails = 0;
    for (unsigned r = 0; r < t->nrails; r++)
        if (t->cfg.weights[r] > 0)
            rails |= t->measured & RAIL_BIT(r);
    bool weighted = kind == TIMED_MODES + DRAIL_POLICY_WEIGHTED && rails;
    return weighted ? rails : t->measured;
}

bool rails_are_wires(const drail_t *t, uint32_t rails)
{
    bool wires = true;
    for (unsigned r = 0; r < t->nrails; r++)
        wires = wires && (!(rails & RAIL_BIT(r)) || t->rails[r].info.is_polled);
    return wires;
}

/* Adaptive weights need the time of every message, so no tuner rests. */
static unsigned flags(const struct timing *k, unsigned kind)
{
    if (kind < TIMED_MODES)
        return 0;
    return (k->several_cores && !k->no_threads ? TUNER_THREADS : 0) |
           (kind == TIMED_MODES + DRAIL_POLICY_ADAPTIVE ? 0 : TUNER_RESTS);
}

/* The tuners of this kind begin anew when they are used next. */
static void begin(drail_t *t, unsigned kind)
{
    t->timing->begun[kind]++;
}

void tuners_begin(drail_t *t)
{
    for (unsigned kind = 0; kind < TIMED_KINDS; kind++)
        begin(t, kind);
}

void tuners_weights_changed(drail_t *t)
{
    begin(t, TIMED_MODES + DRAIL_POLICY_WEIGHTED);
}

static void begin_auto(drail_t *t)
{
    for (unsigned kind = TIMED_MODES; kind < TIMED_KINDS; kind++)
        begin(t, kind);
}

void tuners_team_changed(drail_t *t)
{
    struct timing *k = t->timing;
    if (t->cfg.engine != DRAIL_ENGINE_AUTO || t->cfg.team == k->team)
        return;
    k->team = t->cfg.team;
    k->no_threads = false;
    begin_auto(t);
}

void tuners_without_threads(drail_t *t)
{
    t->timing->no_threads = true;
    begin_auto(t);
}

bool tuners_apply(const drail_t *t)
{
    if (!several_rails(t->measured) || t->cfg.policy > DRAIL_POLICY_ADAPTIVE)
        return false;
    return t->cfg.engine == DRAIL_ENGINE_AUTO ||
           (t->cfg.engine != DRAIL_ENGINE_SINGLE &&
            t->cfg.policy == DRAIL_POLICY_ADAPTIVE);
}

static unsigned mode(const drail_t *t, bool threads)
{
    return threads ? 1 + t->cfg.team : 0;
}

static unsigned kind(const drail_t *t)
{
    return t->cfg.engine == DRAIL_ENGINE_AUTO
               ? TIMED_MODES + t->cfg.policy
               : mode(t, t->cfg.engine == DRAIL_ENGINE_THREADED);
}

unsigned size_class(size_t bytes)
{
    unsigned log2 = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;
    return log2 < TIMED_SIZES ? log2 : TIMED_SIZES - 1;
}

struct tuner *tuner_of(const drail_t *t, bool reads, unsigned size)
{
    struct timing *k = t->timing;
    unsigned of = kind(t);
    struct tuner *c = &k->tuners[reads][of][size];
    if (c->begun != k->begun[of]) {
        tuner_init(c, usable(t, of), flags(k, of));
        c->begun = k->begun[of];
    }
    return c;
}

unsigned rate_slot(const drail_t *t, bool threads, unsigned size)
{
    return mode(t, threads) * TIMED_SIZES + size;
}

/* The champion of a size; 0: it has not won a comparison. */
static uint32_t champion_of(const drail_t *t, bool reads, unsigned size)
{
    const struct tuner *c =
        size < TIMED_SIZES ? tuner_of(t, reads, size) : NULL;
    return c && c->settled ? c->champion : 0;
}

static uint32_t champion_near(const drail_t *t, bool reads, unsigned size)
{
    uint32_t champion = 0;
    for (unsigned d = 1; !champion && d <= NEAR; d++) {
        champion = champion_of(t, reads, size - d);
        if (!champion)
            champion = champion_of(t, reads, size + d);
    }
    return champion;
}

void tuner_used(drail_t *t, bool reads, unsigned size)
{
    struct tuner *tuner = tuner_of(t, reads, size);
    t->timing->latest[kind(t)] = size;
    if (tuner->rate > 0)
        return;
    uint32_t champion = champion_near(t, reads, size);
    if (champion)
        tuner_adopt(tuner, champion);
}

unsigned size_latest(const drail_t *t)
{
    return t->timing->latest[kind(t)];
}

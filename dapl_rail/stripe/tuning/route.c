/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engine auto takes the fastest of engines and sets of rails; every other
 * engine is fixed by the settings. Policy adaptive leaves out rails in the same
 * way, with any engine.
 */
#include "dapl_rail/stripe/tuning/route.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/tuners.h"

/* If the messages of one tuner are timed and those of another rest, the latter
 * hide when the former began. So after a message that had to be timed, so many
 * more are timed, whatever their tuner says. */
#define AWAKE     64
#define STREAM_NS 1e6 /* messages under way last longer than a trial */
#define TRIAL_NS  2e6 /* of a message: one more trial matters */

struct route route_within(const drail_t *t, uint32_t rails)
{
    bool one = t->cfg.engine == DRAIL_ENGINE_SINGLE ||
               t->cfg.policy == DRAIL_POLICY_FIXED;
    return (struct route){
        .rails = one ? fixed_rail(t, rails) : rails,
        .threads = t->cfg.engine == DRAIL_ENGINE_THREADED,
    };
}

/* By the settings alone. */
static struct route configured(const drail_t *t)
{
    return route_within(t, t->measured);
}

static struct route chosen(const drail_t *t, struct tuner *tuner, uint32_t set,
                           unsigned size)
{
    struct route route = configured(t);
    route.set = set;
    route.rails = set & ~WITH_THREADS;
    route.threads |= (set & WITH_THREADS) != 0;
    route.slot = rate_slot(t, route.threads, size);
    route.tuner = tuner;
    return route;
}

struct route route_of_long(const drail_t *t, bool reads, size_t bytes)
{
    unsigned size = size_class(bytes);
    struct tuner *tuner = tuner_of(t, reads, size);
    return chosen(t, tuner, tuner_set(tuner), size);
}

/* Rails that share short messages in a row: wires. Over shared memory the
 * sender's processor copies, and more rails are only more queues. */
static uint32_t spreads(const drail_t *t)
{
    uint32_t wires = 0;
    if (t->cfg.engine == DRAIL_ENGINE_SINGLE ||
        t->cfg.policy > DRAIL_POLICY_ADAPTIVE)
        return 0;
    for (unsigned r = 0; r < t->nrails; r++)
        if (t->rails[r].info.is_polled)
            wires |= RAIL_BIT(r);
    return wires;
}

/* Short messages use a rail of the champion of the shortest striped ones. */
void route_settle(drail_t *t)
{
    bool tuned = tuners_apply(t);
    size_t threshold = t->cfg.stripe_threshold;
    struct route route = configured(t);
    if (tuned) {
        unsigned size = size_class(threshold);
        route = chosen(t, NULL, tuner_of(t, false, size)->champion, size);
    }
    t->timing->untimed = (struct untimed){
        .below = !tuned      ? SIZE_MAX
                 : threshold ? threshold
                             : 1,
        .rails = route.rails,
        .threads = route.threads,
        .slot = route.slot,
        .spreads = spreads(t),
    };
}

struct route route_lately(const drail_t *t)
{
    if (!tuners_apply(t))
        return configured(t);
    unsigned size = size_latest(t);
    struct tuner *tuner = tuner_of(t, false, size);
    return chosen(t, tuner, tuner->champion, size);
}

/* Are these messages to be timed? */
static bool due(struct timing *k, struct tuner *tuner, unsigned messages)
{
    if (!tuner_rests(tuner, messages)) {
        k->awake = AWAKE;
    } else if (k->awake) {
        k->awake--;
    } else {
        k->gap = true;
        return false;
    }
    return true;
}

/*
 * In a long stream all rails pay: each carries what it can, and no message
 * waits for a single rail. Nothing is tried there: a trial would show only
 * after all that is under way, and as much again would have gone over the
 * challenger. Threads can't be judged like this: over wires they matter less
 * than such a trial, elsewhere they are tried. Other policies do not level the
 * rails.
 */
static bool streams(const drail_t *t, const struct tuner *tuner)
{
    bool threads = tuner->flags & TUNER_THREADS &&
                   tuner->rails & ~t->timing->untimed.spreads;
    return t->cfg.policy == DRAIL_POLICY_ADAPTIVE && !threads &&
           tuner->rate > 0 &&
           (double)timing_under_way(t) > STREAM_NS * tuner->rate;
}

/*
 * A wire carries alone what it carries beside others. So one of the champion's
 * is not faster than equal shares on all of these unless another one is slower
 * by more than their number. Long messages need not find that out: the trial
 * would cost a message's time. In a collective the ranks also come out of step,
 * and whatever they try then takes as long as the slowest rank's. A wire that
 * the champion leaves out is tried: it may have become faster.
 */
static bool is_hopeless(const drail_t *t, const struct tuner *tuner,
                        size_t bytes)
{
    const bool threads = (tuner->champion & WITH_THREADS) != 0;
    const unsigned slot = rate_slot(t, threads, size_class(bytes));
    double least = 0, most = 0;
    unsigned n = 0;
    if (!tuner_tries_one_rail(tuner) || tuner_set(tuner) & ~tuner->champion ||
        (double)bytes < TRIAL_NS * tuner->rate ||
        t->cfg.policy == DRAIL_POLICY_WEIGHTED ||
        !rails_are_wires(t, tuner->champion))
        return false;
    for (unsigned r = 0; r < t->nrails; r++) {
        const double rate = t->timing->rails[r].rate[slot];
        if (!(tuner->champion & RAIL_BIT(r)))
            continue;
        least = n++ && least < rate ? least : rate;
        most = most > rate ? most : rate;
    }
    return n * least > most;
}

struct route route_next_long(drail_t *t, bool reads, size_t bytes,
                             unsigned messages)
{
    tuner_used(t, reads, size_class(bytes));
    struct route route = route_of_long(t, reads, bytes);
    if (!due(t->timing, route.tuner, messages))
        return route;
    timing_harvest(t); /* the tuner may change its mind */
    route_settle(t);
    struct tuner *tuner = route.tuner;
    while (is_hopeless(t, tuner, bytes))
        tuner_rule_out(tuner);
    route = route_of_long(t, reads, bytes);
    if (streams(t, tuner))
        route =
            chosen(t, tuner, tuner->rails | (tuner->champion & WITH_THREADS),
                   size_class(bytes));
    route.timed = true;
    return route;
}

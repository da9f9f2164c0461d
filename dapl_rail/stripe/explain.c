/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_explain: which rails carry a message, and why. */
#include <stdarg.h>
#include <stdio.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/cut.h"

struct writer {
    char *text;
    size_t size, used;
};

static void say(struct writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->used, w->size - w->used, format, args);
    va_end(args);
    w->used += n < 0 ? 0 : (size_t)n;
    if (w->used >= w->size)
        w->used = w->size - 1;
}

static const char *kind_name(enum tuner_kind kind)
{
    static const drail_engine_t engines[] = {
        [TUNER_ONE] = DRAIL_ENGINE_SINGLE,
        [TUNER_SEVERAL] = DRAIL_ENGINE_NONTHREADED,
        [TUNER_TEAM] = DRAIL_ENGINE_THREADED};
    return drail_engine_name(engines[kind]);
}

/* Why a rail has the weight that it has. */
static void say_weight(struct writer *w, const drail_t *t,
                       const struct route *route, unsigned r)
{
    const struct rail *rail = &t->rails[r];
    bool adaptive = route->tuner && t->cfg.policy == DRAIL_POLICY_ADAPTIVE;
    double rate = adaptive ? t->timing->rails[r].rate[route->slot] : 0;
    if (rate > 0)
        say(w, ", measured %.0f MB/s", rate * 1000);
    else if (adaptive)
        say(w, ", not measured yet");
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED && t->cfg.weights[r] > 0)
        say(w, ", weight %g", t->cfg.weights[r]);
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED &&
             rail->info.nominal_MBps > 0)
        say(w, ", nominal %.0f MB/s", rail->info.nominal_MBps);
}

/* A trial: which rails it replaces, and their rate. */
static void say_trial(struct writer *w, const drail_t *t, const struct tuner *c)
{
    const char *before = "; a trial: usually over ";
    for (unsigned r = 0; r < t->nrails; r++)
        if (c->champion & RAIL_BIT(r)) {
            say(w, "%s%s", before, t->rails[r].info.name);
            before = "+";
        }
    if (t->cfg.engine == DRAIL_ENGINE_AUTO)
        say(w, " (%s)", kind_name(tuner_kind(c->champion)));
    say(w, ", with %.0f MB/s the fastest so far", c->rate * 1000);
}

/* Why a rail is left out. */
static void say_loss(struct writer *w, const drail_t *t, const struct tuner *c,
                     unsigned r)
{
    if (!c || !(~c->champion & RAIL_BIT(r)))
        return; /* left out only for a trial, or by its weight */
    say(w, "; %s left out: ", t->rails[r].info.name);
    if (c->lost[r].with > 0)
        say(w, "with it %.0f MB/s, without %.0f MB/s",
            (double)c->lost[r].with * 1000, (double)c->lost[r].without * 1000);
    else
        say(w, "not tried yet");
}

/* The rates of engines single, nonthreaded, threaded at this size. */
static void say_kinds(struct writer *w, const struct tuner *c)
{
    const char *before = "; measured: ";
    for (enum tuner_kind k = 0; k < TUNER_KINDS; k++) {
        say(w, "%s%s ", before, kind_name(k));
        if (c->seen[k] > 0)
            say(w, "%.0f MB/s", c->seen[k] * 1000);
        else
            say(w, "not yet");
        before = ", ";
    }
}

static const char *why_one(const drail_t *t, const struct tuner *c,
                           size_t bytes)
{
    if (t->cfg.engine == DRAIL_ENGINE_SINGLE)
        return "engine single uses no other";
    if (t->nrails == 1)
        return "there is no other";
    if (t->cfg.policy == DRAIL_POLICY_FIXED)
        return "policy fixed";
    if (t->cfg.policy == DRAIL_POLICY_ROUNDROBIN)
        return "its turn, the next message takes the next rail";
    if (bytes < t->cfg.stripe_threshold)
        return "shorter than the stripe threshold";
    if (c && !several_rails(c->champion))
        return "striping does not pay at this size";
    if (c && tuner_tries(c))
        return "on trial";
    return "the others' shares would be too small";
}

void drail_explain(drail_t *t, size_t bytes, char *text, size_t size)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    struct writer w = {.text = text, .size = size};
    if (!t || !text || !size)
        return;
    /* asking must not change what the next message does */
    unsigned turn = t->turn;
    timing_harvest(t); /* as the next message would do */
    route_settle(t);
    struct route route = route_of(t, t->measured, false, bytes);
    const struct tuner *c = route.tuner;
    bool chosen = c && t->cfg.engine == DRAIL_ENGINE_AUTO;
    int n = cut_message(t, bytes, &route, chunks);
    t->turn = turn;

    say(&w, "%zu bytes, %s", bytes, drail_engine_name(t->cfg.engine));
    if (chosen)
        say(&w, " (%s)", kind_name(tuner_kind(tuner_set(c))));
    say(&w, ", %s:", drail_policy_name(t->cfg.policy));
    if (n == 1)
        say(&w, " all over %s (%s)", t->rails[chunks[0].rail].info.name,
            why_one(t, c, bytes));
    for (int i = 0; n > 1 && i < n; i++) {
        unsigned r = chunks[i].rail;
        say(&w, "%s %s %zu (%.1f %%", i ? "," : "", t->rails[r].info.name,
            chunks[i].bytes, 100.0 * (double)chunks[i].bytes / (double)bytes);
        say_weight(&w, t, &route, r);
        say(&w, ")");
    }
    if (c && tuner_tries(c))
        say_trial(&w, t, c);
    if (chosen)
        say_kinds(&w, c);
    for (unsigned r = 0; r < t->nrails; r++)
        say_loss(&w, t, c, r);
}

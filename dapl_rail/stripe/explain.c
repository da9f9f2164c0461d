/* SPDX-License-Identifier: BSD-3-Clause */
/* Decisions can be asked for: which rails carry a message, and why. */
#include <stdarg.h>
#include <stdio.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/timing.h"
#include "dapl_rail/stripe/weights.h"

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

/* The adaptive policy's knowledge of messages of this size. */
struct learnt {
    unsigned slot;
    const struct choice *choice; /* NULL: it does not apply */
};

static struct learnt learnt_of(const drail_t *t, size_t bytes)
{
    struct learnt l = {.slot = timing_slot(t, bytes)};
    if (timing_applies(t, bytes))
        l.choice = &t->timing->choices[l.slot];
    return l;
}

/* Why a rail has the weight that it has. */
static void say_weight(struct writer *w, const drail_t *t,
                       const struct learnt *l, unsigned r)
{
    const struct rail *rail = &t->rails[r];
    double rate = l->choice ? t->timing->rails[r].rate[l->slot] : 0;
    if (l->choice && rate > 0)
        say(w, ", measured %.0f MB/s", rate * 1000);
    else if (l->choice)
        say(w, ", not measured yet");
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED && t->cfg.weights[r] > 0)
        say(w, ", weight %g", t->cfg.weights[r]);
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED &&
             rail->info.nominal_MBps > 0)
        say(w, ", nominal %.0f MB/s", rail->info.nominal_MBps);
}

/* What a trial takes the place of, and why that is usual. */
static void say_trial(struct writer *w, const drail_t *t,
                      const struct choice *c)
{
    const char *before = "; a trial: usually over ";
    for (unsigned r = 0; r < t->nrails; r++)
        if (c->champion & RAIL_BIT(r)) {
            say(w, "%s%s", before, t->rails[r].info.name);
            before = "+";
        }
    say(w, ", with %.0f MB/s the fastest so far", c->rate * 1000);
}

/* Why a rail is left out. */
static void say_loss(struct writer *w, const drail_t *t, const struct choice *c,
                     unsigned r)
{
    if (!c || !(~c->champion & RAIL_BIT(r)))
        return; /* only now, for a trial, or by its weight */
    say(w, "; %s left out: ", t->rails[r].info.name);
    if (c->lost[r].with > 0)
        say(w, "with it %.0f MB/s, without %.0f MB/s",
            (double)c->lost[r].with * 1000, (double)c->lost[r].without * 1000);
    else
        say(w, "not tried yet");
}

static const char *why_one(const drail_t *t, const struct choice *c,
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
    if (c && !(c->champion & (c->champion - 1)))
        return "striping does not pay at this size";
    if (c && c->trial)
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
    struct learnt learnt = learnt_of(t, bytes);
    const struct choice *c = learnt.choice;
    if (c)
        timing_harvest(t); /* as the next message would */
    int n = cut(t, bytes, chunks);
    t->turn = turn;

    say(&w, "%zu bytes, %s, %s:", bytes, drail_engine_name(t->cfg.engine),
        drail_policy_name(t->cfg.policy));
    if (n == 1)
        say(&w, " all over %s (%s)", t->rails[chunks[0].rail].info.name,
            why_one(t, c, bytes));
    for (int i = 0; n > 1 && i < n; i++) {
        unsigned r = chunks[i].rail;
        say(&w, "%s %s %zu (%.1f %%", i ? "," : "", t->rails[r].info.name,
            chunks[i].bytes, 100.0 * (double)chunks[i].bytes / (double)bytes);
        say_weight(&w, t, &learnt, r);
        say(&w, ")");
    }
    if (c && c->trial)
        say_trial(&w, t, c);
    for (unsigned r = 0; r < t->nrails; r++)
        say_loss(&w, t, c, r);
}

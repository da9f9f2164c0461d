/* SPDX-License-Identifier: BSD-3-Clause */
/* Decisions can be asked for: which rails carry a message, and why. */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

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

/* Why a rail has the weight that it has. */
static void say_weight(struct writer *w, const drail_t *t, unsigned r)
{
    const struct rail *rail = &t->rails[r];
    if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE && rail->rate > 0)
        say(w, ", measured %.0f MB/s", rail->rate * 1000);
    else if (t->cfg.policy == DRAIL_POLICY_ADAPTIVE)
        say(w, ", not measured yet");
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED && t->cfg.weights[r] > 0)
        say(w, ", weight %g", t->cfg.weights[r]);
    else if (t->cfg.policy == DRAIL_POLICY_WEIGHTED &&
             rail->info.nominal_MBps > 0)
        say(w, ", nominal %.0f MB/s", rail->info.nominal_MBps);
}

static const char *why_one(const drail_t *t, size_t bytes)
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
    return "the others' shares would not be worth a write";
}

void drail_explain(drail_t *t, size_t bytes, char *text, size_t size)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    struct writer w = {.text = text, .size = size};
    if (!t || !text || !size)
        return;
    /* asking must not change what the next message does */
    unsigned turn = t->turn, striped = t->striped;
    int n = cut(t, bytes, chunks);
    t->turn = turn;
    t->striped = striped;

    say(&w, "%zu bytes, %s, %s:", bytes, drail_engine_name(t->cfg.engine),
        drail_policy_name(t->cfg.policy));
    if (n == 1)
        say(&w, " all over %s (%s)", t->rails[chunks[0].rail].info.name,
            why_one(t, bytes));
    uint32_t used = 0;
    for (int i = 0; n > 1 && i < n; i++) {
        unsigned r = chunks[i].rail;
        used |= RAIL_BIT(r);
        say(&w, "%s %s %zu (%.1f %%", i ? "," : "", t->rails[r].info.name,
            chunks[i].bytes, 100.0 * (double)chunks[i].bytes / (double)bytes);
        say_weight(&w, t, r);
        say(&w, ")");
    }
    for (unsigned r = 0; n > 1 && r < t->nrails; r++)
        if (!(used & RAIL_BIT(r))) {
            say(&w, ", %s nothing (share too small", t->rails[r].info.name);
            say_weight(&w, t, r);
            say(&w, ")");
        }
}

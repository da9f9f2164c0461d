/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In a round each entrant has a turn, so that what disturbs for a while
 * disturbs all of them. Who is far behind leaves early, and as the rounds make
 * rates more certain, the others are held to less and less: a way that is
 * three times as slow is taken twice, ways that are alike are compared in all
 * rounds, which costs nothing, as they are alike.
 *
 * Disturbances only make messages slower: an entrant's best round, not its
 * usual one, must be behind the usual one of another before it leaves, and of
 * two rounds the other's worse one. In the end medians count.
 */
#include <assert.h>

#include "dapl_rail/stripe/tuning/comparison.h"

#define SLACK         0.6 /* behind by this part, over the rounds: leaves … */
#define ROUNDS        2   /* … after so many rounds, … */
#define ROUNDS_HOLDER 3   /* … the holder of the title after so many */

void contest_begin(struct contest *c, uint32_t holder, bool on_trial)
{
    c->count = c->turn = 0;
    c->in = 0;
    c->on_trial = on_trial;
    contest_add(c, holder);
}

void contest_add(struct contest *c, uint32_t set)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->entrants[i].set == set)
            return;
    assert(c->count < CONTEST_SETS);
    c->in |= 1u << c->count;
    c->entrants[c->count++] = (struct entrant){.set = set};
}

double entrant_rate(const struct entrant *e)
{
    return e->rounds ? (double)e->rate[e->rounds / 2] : 0;
}

static void note(struct entrant *e, double rate)
{
    unsigned at = e->rounds++;
    for (; at && (double)e->rate[at - 1] > rate; at--)
        e->rate[at] = e->rate[at - 1];
    e->rate[at] = (float)rate;
}

static bool is_in(const struct contest *c, unsigned i)
{
    return c->in >> i & 1;
}

/* Those who can't win any more leave. */
static void round_ends(struct contest *c, unsigned rounds)
{
    double lead = 0;
    for (unsigned i = 0; i < c->count; i++) {
        double rate = (double)c->entrants[i].rate[(rounds - 1) / 2];
        if (is_in(c, i) && rate > lead)
            lead = rate;
    }
    for (unsigned i = 0; i < c->count; i++) {
        unsigned least = !i ? ROUNDS_HOLDER : c->on_trial ? 1 : ROUNDS;
        double best = (double)c->entrants[i].rate[rounds - 1];
        if (is_in(c, i) && rounds >= least &&
            best * (1 + SLACK / rounds) < lead)
            c->in &= ~(1u << i);
    }
}

bool contest_turn(struct contest *c, double rate)
{
    struct entrant *e = &c->entrants[c->turn];
    note(e, rate);
    uint32_t later = c->in & ~((2u << c->turn) - 1);
    if (!later)
        round_ends(c, e->rounds);
    c->turn = (unsigned)__builtin_ctz(later ? later : c->in);
    return !later && (e->rounds == CONTEST_ROUNDS || !(c->in & (c->in - 1)));
}

/* What it must be taken to reach by those who challenge it: of the holder, its
 * upper quartile, so that much noise does not take the title from it. */
static double standing(const struct contest *c, const struct entrant *e)
{
    return e == c->entrants ? (double)e->rate[e->rounds * 3 / 4]
                            : entrant_rate(e);
}

const struct entrant *contest_winner(const struct contest *c)
{
    const struct entrant *winner = &c->entrants[__builtin_ctz(c->in)];
    for (unsigned i = 0; i < c->count; i++) {
        const struct entrant *e = &c->entrants[i];
        if (is_in(c, i) && entrant_rate(e) > standing(c, winner))
            winner = e;
    }
    return winner;
}

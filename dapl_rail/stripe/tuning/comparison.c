/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In a round each candidate has a turn, so that a disturbance that lasts for a
 * while affects all of them. A candidate far behind is eliminated early. As
 * rounds make the rates more certain, smaller differences suffice. So a set
 * that is three times as slow is used twice; sets that are alike are compared
 * in all rounds, which costs nothing.
 *
 * Disturbances only make messages slower. So a candidate is eliminated when its
 * best round is behind the median of another; after two rounds, behind the
 * other's worse one. At the end medians are compared.
 */
#include <assert.h>

#include "dapl_rail/stripe/tuning/comparison.h"

#define SLACK           0.6 /* eliminated if behind by SLACK / rounds, … */
#define ROUNDS          2   /* … after so many rounds at least, … */
#define ROUNDS_CHAMPION 3   /* … the champion after so many */

void comparison_begin(struct comparison *c, uint32_t champion, bool one_round)
{
    c->count = c->turn = 0;
    c->in = 0;
    c->one_round = one_round;
    comparison_add(c, champion);
}

void comparison_add(struct comparison *c, uint32_t set)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->candidates[i].set == set)
            return;
    assert(c->count < COMPARISON_SETS);
    c->in |= 1u << c->count;
    c->candidates[c->count++] = (struct candidate){.set = set};
}

double candidate_rate(const struct candidate *e)
{
    return e->rounds ? e->rate[e->rounds / 2] : 0;
}

void insert_rate(double *rates, unsigned n, double rate)
{
    for (; n && rates[n - 1] > rate; n--)
        rates[n] = rates[n - 1];
    rates[n] = rate;
}

static bool is_in(const struct comparison *c, unsigned i)
{
    return c->in >> i & 1;
}

/* Eliminates those that can't win any more. */
static void round_ends(struct comparison *c, unsigned rounds)
{
    double lead = 0;
    for (unsigned i = 0; i < c->count; i++) {
        double rate = c->candidates[i].rate[(rounds - 1) / 2];
        if (is_in(c, i) && rate > lead)
            lead = rate;
    }
    for (unsigned i = 0; i < c->count; i++) {
        unsigned least = !i ? ROUNDS_CHAMPION : c->one_round ? 1 : ROUNDS;
        double best = c->candidates[i].rate[rounds - 1];
        if (is_in(c, i) && rounds >= least &&
            best * (1 + SLACK / rounds) < lead)
            c->in &= ~(1u << i);
    }
}

/* The turn has ended; those that are in and come earlier have had so many
 * rounds. Is the comparison over? */
static bool next_turn(struct comparison *c, unsigned rounds)
{
    uint32_t later = c->in & ~((2u << c->turn) - 1);
    if (!later)
        round_ends(c, rounds);
    c->turn = (unsigned)__builtin_ctz(later ? later : c->in);
    return !later && (rounds == COMPARISON_ROUNDS || !(c->in & (c->in - 1)));
}

bool comparison_record(struct comparison *c, double rate)
{
    struct candidate *e = &c->candidates[c->turn];
    insert_rate(e->rate, e->rounds++, rate);
    return next_turn(c, e->rounds);
}

bool comparison_rule_out(struct comparison *c)
{
    c->in &= ~(1u << c->turn);
    return next_turn(c, c->candidates[__builtin_ctz(c->in)].rounds);
}

/* The rate that a challenger must exceed: of the champion its upper quartile,
 * so that noise does not replace it. */
static double rate_to_beat(const struct comparison *c,
                           const struct candidate *e)
{
    return e == c->candidates ? e->rate[e->rounds * 3 / 4] : candidate_rate(e);
}

const struct candidate *comparison_winner(const struct comparison *c)
{
    const struct candidate *winner = &c->candidates[__builtin_ctz(c->in)];
    for (unsigned i = 0; i < c->count; i++) {
        const struct candidate *e = &c->candidates[i];
        if (is_in(c, i) && candidate_rate(e) > rate_to_beat(c, winner))
            winner = e;
    }
    return winner;
}

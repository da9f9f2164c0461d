/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the fastest of some sets of rails: they take turns, and those that are
 * clearly slower are eliminated. Pure: it sees only the rates that it is told.
 */
#ifndef DRAIL_STRIPE_COMPARISON_H
#define DRAIL_STRIPE_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define COMPARISON_ROUNDS 5u /* at most */
/* At most: each rail alone, all, all with threads, and the champion. */
#define COMPARISON_SETS (DRAIL_MAX_RAILS + 3)

struct candidate {
    uint32_t set;
    unsigned rounds;                /* in which it took part, and its … */
    double rate[COMPARISON_ROUNDS]; /* … rates there, bytes/ns, ascending */
};

struct comparison {
    struct candidate candidates[COMPARISON_SETS]; /* the first: the champion */
    unsigned count;
    uint32_t in;    /* bits of candidates not eliminated; 0: not running */
    unsigned turn;  /* index of the candidate whose turn it is */
    bool one_round; /* one bad round eliminates a challenger */
};

/* Inserts a rate into n ascending ones; the caller's array has room. */
void insert_rate(double *rates, unsigned n, double rate);

/* The first turn is the champion's. */
void comparison_begin(struct comparison *c, uint32_t champion, bool one_round);
/* Adds a set, unless it is there; before the first turn. */
void comparison_add(struct comparison *c, uint32_t set);
/* The rate of the turn that has ended, in bytes/ns; begins the next turn.
 * Returns true when the comparison is over. */
bool comparison_record(struct comparison *c, double rate);
/* Eliminates the candidate whose turn it is, which is not the only one left.
 * Returns the same. */
bool comparison_rule_out(struct comparison *c);
/* After the end: the champion, unless a challenger is clearly faster. */
const struct candidate *comparison_winner(const struct comparison *c);
/* The median of a candidate's rates in bytes/ns; 0: none yet. */
double candidate_rate(const struct candidate *e);

#endif

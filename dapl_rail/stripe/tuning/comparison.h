/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of some sets of rails is the fastest, found out by taking turns. Pure:
 * it sees nothing but the rates that it is told.
 */
#ifndef DRAIL_STRIPE_CONTEST_H
#define DRAIL_STRIPE_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define CONTEST_ROUNDS 5u /* at most */
/* At most: each rail alone, all, also with threads, and the holder. */
#define CONTEST_SETS (DRAIL_MAX_RAILS + 3)

struct entrant {
    uint32_t set;
    unsigned rounds;            /* that it took part in, and its … */
    float rate[CONTEST_ROUNDS]; /* … rates there, bytes/ns, ascending */
};

struct contest {
    struct entrant entrants[CONTEST_SETS]; /* the first holds the title */
    unsigned count;
    uint32_t in;   /* entrants that are still in it; 0: there is no contest */
    unsigned turn; /* the entrant whose turn it is */
    bool on_trial; /* who challenges is put off by one bad round */
};

/* The holder's turn is the first. */
void contest_begin(struct contest *c, uint32_t holder, bool on_trial);
/* Before the first turn; one that is there is not added again. */
void contest_add(struct contest *c, uint32_t set);
/* What the entrant whose turn it is has reached, bytes/ns; the next one's turn
 * begins. @return is the contest over? */
bool contest_turn(struct contest *c, double rate);
/* After the end: an entrant, the holder unless another is clearly faster. */
const struct entrant *contest_winner(const struct contest *c);
/* The median of its rates, bytes/ns; 0: it has none. */
double entrant_rate(const struct entrant *e);

#endif

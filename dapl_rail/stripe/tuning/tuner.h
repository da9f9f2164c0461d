/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the fastest set of rails for messages of one size, and whether a thread
 * for each rail is worth it, by trying. Pure: it sees only the times that it is
 * told. The set in use is the champion; the others are challengers.
 */
#ifndef DRAIL_STRIPE_TUNER_H
#define DRAIL_STRIPE_TUNER_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/stripe/tuning/comparison.h"

/* In a set of several rails: a thread drives each of them. */
#define WITH_THREADS (1u << 31)

/* Flags of tuner_init(). */
#define TUNER_THREADS 1u /* threads may be used */
#define TUNER_RESTS   2u /* only some of the messages need to be timed */

/* Engines single, nonthreaded and threaded. */
enum tuner_kind { TUNER_ONE, TUNER_SEVERAL, TUNER_TEAM, TUNER_KINDS };

/* An epoch: some messages in a row over the same set, in several parts. In a
 * comparison an epoch has one part. */
#define EPOCH_PARTS 5
struct epoch {
    double part_bytes, part_ns; /* of the present part */
    unsigned messages;
    unsigned parts;           /* complete ones, … */
    double rate[EPOCH_PARTS]; /* … their rates, ascending, … */
    double shortest;          /* … and the shortest time of one */
    unsigned skip;            /* first messages that do not count, … */
    double skip_ns;           /* … and the time of those so far */
};

struct tuner {
    uint32_t rails;    /* all that may be used */
    unsigned flags;    /* TUNER_… */
    uint32_t champion; /* set in use; at first all rails without threads */
    bool settled;      /* the champion has won a comparison */
    struct comparison comparison;
    unsigned stint;  /* messages of a turn in it; 0: not yet known */
    unsigned next;   /* index of the next trial's challenger */
    unsigned grants; /* comparisons left with neighbours of a new champion */
    unsigned since;  /* epochs since the last comparison */
    double debt;     /* ns that trials have lost, not yet made up for */
    unsigned rest;   /* messages that need not be timed */
    unsigned begun;  /* see tuners.c */
    struct epoch epoch;
    double rate;  /* bytes/ns of the champion's last epoch; 0: none yet */
    double usual; /* the same, smoothed */
    unsigned odd; /* epochs in a row that were far from usual */
    double quiet, spent;     /* since the rate last changed: ns without trials,
                                and ns lost by trials */
    double patience;         /* see PATIENCE_MIN */
    struct {                 /* per rail that is left out: why, in bytes/ns */
        float with, without; /* 0: not tried */
    } lost[DRAIL_MAX_RAILS];
    double seen[TUNER_KINDS]; /* latest rate of each kind; 0: not tried */
};

static inline bool several_rails(uint32_t set)
{
    set &= ~WITH_THREADS;
    return set & (set - 1);
}

enum tuner_kind tuner_kind(uint32_t set);
void tuner_init(struct tuner *c, uint32_t rails, unsigned flags);
/* Takes over the champion of a size nearby, unless a time has been measured. */
void tuner_adopt(struct tuner *c, uint32_t champion);
/* The set for the next message. */
static inline uint32_t tuner_set(const struct tuner *c)
{
    const struct comparison *p = &c->comparison;
    return p->in ? p->candidates[p->turn].set : c->champion;
}

/* Does the next message go over a challenger? */
static inline bool tuner_tries(const struct tuner *c)
{
    return tuner_set(c) != c->champion;
}

/* So many messages start. True: they need not be timed. */
bool tuner_rests(struct tuner *c, unsigned messages);
/* Does the next message go over one rail of a champion of several? Then
 * tuner_rule_out() may end the try, without a measurement. */
bool tuner_tries_one_rail(const struct tuner *c);
void tuner_rule_out(struct tuner *c);
/*
 * So many messages over this set took ns: from the start of the first, or from
 * the end of the messages before them if that was later, to the end of the
 * last. ns 0: they overtook others, so their time tells nothing.
 */
void tuner_measured(struct tuner *c, uint32_t set, unsigned messages,
                    double bytes, double ns);

#endif

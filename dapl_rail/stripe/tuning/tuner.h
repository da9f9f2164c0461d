/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rails to use for messages of one size, and whether a thread for each
 * of them is worth it, found out by trying. Pure: it sees nothing but the
 * times that it is told.
 */
#ifndef DAPL_RAIL_CHOOSE_H
#define DAPL_RAIL_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/stripe/tuning/comparison.h"

/* In a set of several rails: a thread drives each of them. */
#define WITH_THREADS (1u << 31)

/* What choice_init is asked for. */
#define CHOICE_THREADS 1u /* threads may be used, too */
#define CHOICE_RESTS   2u /* only some of the messages need be timed */

/* Ways of using rails, as people call them. */
enum choice_kind { CHOICE_ONE, CHOICE_SEVERAL, CHOICE_TEAM, CHOICE_KINDS };

/* Sums of an epoch, some messages in a row over the same rails, and of its
 * present part; of a contest, an epoch is one part. */
#define EPOCH_PARTS 5
struct epoch {
    double part_bytes, part_ns;
    unsigned messages;
    unsigned parts;           /* that are complete, … */
    double rate[EPOCH_PARTS]; /* … their rates, … */
    double shortest;          /* … and the shortest time of one */
    unsigned skip;            /* first messages that do not count, … */
    double skip_ns;           /* … and the time of those that did not */
};

struct choice {
    uint32_t rails;    /* that there are */
    unsigned flags;    /* CHOICE_… */
    uint32_t champion; /* set in use, at first all rails without threads */
    bool settled;      /* it has won a contest */
    struct contest contest;
    unsigned stint;  /* messages of a turn there, 0: not yet known */
    unsigned next;   /* candidate that is tried next */
    unsigned grants; /* of contests with what is like a new champion */
    unsigned since;  /* epochs since the last contest */
    double debt;     /* ns that trials have lost, not yet made up for */
    unsigned rest;   /* messages that need not be timed */
    unsigned begun;  /* timing.c: that of its kind when it was begun */
    struct epoch epoch;
    double rate;  /* bytes/ns: champion's, of its last epoch; 0: none yet */
    double usual; /* the same, smoothed */
    unsigned odd; /* epochs in a row that were far from usual */
    double quiet, spent; /* ns without trials, and lost by them, since the rate
                            was last held to have changed */
    double patience;     /* see PATIENCE_MIN */
    struct {             /* per rail that is left out: bytes/ns … */
        float with, without;
    } lost[DRAIL_MAX_RAILS];   /* … that left it out; 0: not tried */
    double seen[CHOICE_KINDS]; /* latest rate of each kind, 0: not tried */
};

static inline bool several_rails(uint32_t set)
{
    set &= ~WITH_THREADS;
    return set & (set - 1);
}

enum choice_kind choice_kind(uint32_t set);
void choice_init(struct choice *c, uint32_t rails, unsigned flags);
/* Begins with this champion, which is that of messages of about this size,
 * unless it has begun. */
void choice_adopt(struct choice *c, uint32_t champion);
/* The set for the next message. */
static inline uint32_t choice_set(const struct choice *c)
{
    const struct contest *contest = &c->contest;
    return contest->in ? contest->entrants[contest->turn].set : c->champion;
}

/* Another than the champion, to see how fast it is. */
static inline bool choice_tries(const struct choice *c)
{
    return choice_set(c) != c->champion;
}

/* So many messages start: need they not be timed? */
bool choice_rests(struct choice *c, unsigned messages);
/*
 * So many messages, that went over this set, took so long: the time from the
 * start of the first (or the end of those before, if that was later) to the
 * end of the last. 0: they overtook others, which tells nothing.
 */
void choice_measured(struct choice *c, uint32_t set, unsigned messages,
                     double bytes, double ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rails to use for messages of one size, found out by trying. Pure: it
 * sees nothing but the times that it is told.
 */
#ifndef DAPL_RAIL_CHOOSE_H
#define DAPL_RAIL_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

/* Sums of an epoch: some messages in a row over the same rails. */
struct epoch {
    double bytes, ns;
    unsigned messages, samples;
    unsigned skip; /* first messages that do not count */
};

struct choice {
    unsigned nrails;
    uint32_t champion;   /* set of rails in use, at first all */
    uint32_t challenger; /* set under trial, 0: none */
    bool trial;          /* it is the challenger's turn */
    unsigned wins;       /* of this challenger, in a row */
    unsigned next;       /* candidate that is tried next */
    unsigned free;       /* trials that need not be affordable */
    unsigned grants;     /* of free rounds for new champions */
    unsigned since;      /* epochs since the last trial */
    double debt;         /* ns that trials have lost, not yet made up for */
    struct epoch epoch;
    double rate;  /* bytes/ns: champion's, of its last epoch; 0: none yet */
    double usual; /* the same, smoothed */
    unsigned odd; /* epochs in a row that were far from usual */
    double quiet, spent; /* ns without trials, and lost by them, since the rate
                            was last held to have changed */
    double patience;     /* see PATIENCE_MIN */
    struct {             /* per rail that is left out: bytes/ns … */
        float with, without;
    } lost[DRAIL_MAX_RAILS]; /* … that left it out; 0: not tried */
};

void choice_init(struct choice *c, unsigned nrails);
/* The rails for the next message. */
uint32_t choice_set(const struct choice *c);
/*
 * So many messages, that went over this set, took so long: the time from the
 * start of the first (or the end of those before, if that was later) to the
 * end of the last. 0: they overtook others, which tells nothing.
 */
void choice_measured(struct choice *c, uint32_t set, unsigned messages,
                     double bytes, double ns);

#endif

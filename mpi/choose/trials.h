/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials find out which side is faster. */
#ifndef MPI_TRIALS_H
#define MPI_TRIALS_H

#include <stdbool.h>

#define TRIAL_CALLS 16 /* of a trial, that count */

enum { SIDE_BELOW, SIDE_DCOLL };

/* One call of one rank, in seconds of its clock. */
struct timed_call {
    double came, left;
};

/* For calls of one collective and class on one communicator. Contents: by
 * trials_open. */
struct trials {
    int rest;      /* calls until the next trial; 0: a trial is on, … */
    int trial;     /* … and has had so many calls */
    bool tried;    /* at least one trial has ended */
    bool by_dcoll; /* libdcoll makes the calls between trials */
    double saves;  /* seconds that libdcoll saves in a call */
    double cost;   /* seconds that libdcoll took more, in this trial */
    struct timed_call timed[TRIAL_CALLS];
};

/* @saves: the result of earlier trials, the same on all ranks; 0: none.
 * @eager: if there is none, the first call begins a trial. */
void trials_open(struct trials *t, double saves, bool eager);
/* The side that makes the next call. *timed: the caller times it. */
int trials_next_side(struct trials *t, bool *timed);
/* Records a timed call. True: all ranks must now exchange t->timed, and call
 * trials_decide. All ranks get the same answer. */
bool trials_record(struct trials *t, double came, double left);
/* @all: t->timed of each rank, in the order of ranks. @clock: the ranks share
 * one clock. */
void trials_decide(struct trials *t, const struct timed_call *all, int ranks,
                   bool clock);
bool trials_are_over(const struct trials *t);
/* Is libdcoll known to be faster? The same on all ranks. */
bool trials_prefer_dcoll(const struct trials *t);

#endif

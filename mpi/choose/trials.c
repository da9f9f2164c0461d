/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's own calls are timed: the sides make them in turn, several calls
 * each. The time of a call runs from the last rank's arrival to the last rank's
 * departure. The time of a single rank would mislead: a late rank finds its
 * data ready, and a rank that only sends leaves before they arrive.
 *
 * A trial costs time if libdcoll is slower. So the first one waits until there
 * have been some calls, and a trial ends after one round of each side if
 * libdcoll is clearly slower.
 */
#include "mpi/choose/trials.h"

#define BEFORE 64 /* calls by the MPI below before the first trial */
#define ROUNDS 3  /* of each side, in turn */
/* Calls of a round. The first call of each round, and the first round of each
 * side, do not count: they prepare, learn and fill caches. */
#define ROUND   (1 + TRIAL_CALLS / (2 * (ROUNDS - 1)))
#define PROBE   (2 * ROUND)
#define TRIALS  (2 * ROUNDS * ROUND)
#define AGAIN   5000 /* calls from one trial to the next: machines change */
#define SELDOM  10   /* times as many, if … */
#define CLEAR   2    /* … one side takes so many times as long */
#define GAIN    0.97 /* part of the time that makes the change worth it */
#define OF_EACH (TRIAL_CALLS / 2)

void trials_open(struct trials *t, double saves, bool eager)
{
    *t = (struct trials){.rest = saves   ? AGAIN
                                 : eager ? 0
                                         : BEFORE,
                         .tried = saves,
                         .by_dcoll = saves > 0,
                         .saves = saves};
}

int trials_next_side(struct trials *t, bool *timed)
{
    *timed = !t->rest;
    if (*timed)
        return (int)(t->trial++ / ROUND % 2);
    t->rest--;
    return t->by_dcoll;
}

bool trials_record(struct trials *t, double came, double left)
{
    int round = (t->trial - 1) / ROUND, at = (t->trial - 1) % ROUND;
    int kept = round < 2 ? round : round - 2; /* overwrites the first rounds */
    t->cost += round % 2 == SIDE_DCOLL ? left - came : came - left;
    if (at >= 1)
        t->timed[kept * (ROUND - 1) + at - 1] = (struct timed_call){came, left};
    if (t->trial < TRIALS)
        return t->trial == PROBE;
    t->trial = 0;
    t->rest = AGAIN - TRIALS;
    t->tried = true;
    return true;
}

/* Seconds of a call. Without a common clock: those of the slowest rank. */
static double took(const struct timed_call *all, int ranks, int call,
                   bool clock)
{
    double came = 0, left = 0;
    for (int r = 0; r < ranks; r++) {
        const struct timed_call *its = &all[r * TRIAL_CALLS + call];
        double begin = clock ? its->came : 0;
        double end = clock ? its->left : its->left - its->came;
        came = begin > came ? begin : came;
        left = end > left ? end : left;
    }
    return left - came;
}

static double median(double *of, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && of[k] < of[k - 1]; k--) {
            double less = of[k];
            of[k] = of[k - 1];
            of[k - 1] = less;
        }
    return (of[(n - 1) / 2] + of[n / 2]) / 2;
}

void trials_decide(struct trials *t, const struct timed_call *all, int ranks,
                   bool clock)
{
    bool probe = t->trial == PROBE;
    double seconds[2][OF_EACH];
    int n[2] = {0, 0};
    for (int call = 0; call < (probe ? 2 * (ROUND - 1) : TRIAL_CALLS); call++) {
        int side = call / (ROUND - 1) % 2;
        seconds[side][n[side]++] = took(all, ranks, call, clock);
    }
    double below = median(seconds[SIDE_BELOW], n[SIDE_BELOW]);
    double dcoll = median(seconds[SIDE_DCOLL], n[SIDE_DCOLL]);
    if (probe && dcoll <= CLEAR * below)
        return;
    t->saves = below - dcoll;
    t->by_dcoll = dcoll <= GAIN * below;
    t->tried = true;
    if (probe) {
        t->trial = 0;
        t->rest = AGAIN - PROBE;
    } else if (dcoll > CLEAR * below || below > CLEAR * dcoll) {
        t->rest = SELDOM * AGAIN - TRIALS;
    }
}

bool trials_are_over(const struct trials *t)
{
    return !t->trial;
}

bool trials_prefer_dcoll(const struct trials *t)
{
    return t->tried && t->by_dcoll;
}

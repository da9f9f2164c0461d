/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is slower is not taken: calls of each side are timed, where they are made
 * and as they are made, some of one side's after another, as then all go on. A
 * call takes from when the last rank has come to it until the last one has left
 * it. One rank's time would not tell: one that comes late finds the data there,
 * and one that only sends leaves before they are anywhere.
 *
 * A trial costs time where libdcoll is slower: it waits until there have been
 * some calls, and ends behind the first round of each side if that is clear.
 */
#include "mpi/layer.h"

#define BEFORE 64 /* calls, made below: then the first trial */
#define ROUNDS 3  /* of each side, in turn; the first … */
/* calls; … and the first one of each are not counted: what is new is prepared
 * and learnt, and caches and ranks are as the other side has left them */
#define ROUND   (1 + CONTEST_COUNTED / (2 * (ROUNDS - 1)))
#define PROBE   (2 * ROUND)
#define TRIALS  (2 * ROUNDS * ROUND)
#define AGAIN   5000 /* calls; then they are tried anew: machines change */
#define SELDOM  10   /* times as many, where … */
#define CLEAR   2    /* … one takes so many times as long */
#define GAIN    0.97 /* worth the change */
#define OF_EACH (CONTEST_COUNTED / 2)

void contest_open(struct contest *c, double saves, bool eager)
{
    *c = (struct contest){.rest = saves   ? AGAIN
                                  : eager ? 0
                                          : BEFORE,
                          .tried = saves,
                          .ours = saves > 0,
                          .saves = saves};
}

int contest_turn(struct contest *c, bool *trial)
{
    *trial = !c->rest;
    if (*trial)
        return (int)(c->trial++ / ROUND % 2);
    c->rest--;
    return c->ours;
}

bool contest_took(struct contest *c, double came, double left)
{
    int round = (c->trial - 1) / ROUND, at = (c->trial - 1) % ROUND;
    int kept = round < 2 ? round : round - 2; /* over those of the first */
    c->cost += round % 2 == CONTEST_OURS ? left - came : came - left;
    if (at >= 1)
        c->timed[kept * (ROUND - 1) + at - 1] =
            (struct contest_call){came, left};
    if (c->trial < TRIALS)
        return c->trial == PROBE;
    c->trial = 0;
    c->rest = AGAIN - TRIALS;
    c->tried = true;
    return true;
}

/* Seconds of a call. Without a common clock: of who took longest. */
static double took(const struct contest_call *all, int ranks, int call,
                   bool clock)
{
    double came = 0, left = 0;
    for (int r = 0; r < ranks; r++) {
        const struct contest_call *his = &all[r * CONTEST_COUNTED + call];
        double begin = clock ? his->came : 0;
        double end = clock ? his->left : his->left - his->came;
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

void contest_decide(struct contest *c, const struct contest_call *all,
                    int ranks, bool clock)
{
    bool probe = c->trial == PROBE;
    double seconds[2][OF_EACH];
    int n[2] = {0, 0};
    for (int call = 0; call < (probe ? 2 * (ROUND - 1) : CONTEST_COUNTED);
         call++) {
        int side = call / (ROUND - 1) % 2;
        seconds[side][n[side]++] = took(all, ranks, call, clock);
    }
    double below = median(seconds[CONTEST_BELOW], n[CONTEST_BELOW]);
    double ours = median(seconds[CONTEST_OURS], n[CONTEST_OURS]);
    if (probe && ours <= CLEAR * below)
        return;
    c->saves = below - ours;
    c->ours = ours <= GAIN * below;
    c->tried = true;
    if (probe) {
        c->trial = 0;
        c->rest = AGAIN - PROBE;
    } else if (ours > CLEAR * below || below > CLEAR * ours) {
        c->rest = SELDOM * AGAIN - TRIALS;
    }
}

bool contest_has_ended(const struct contest *c)
{
    return !c->trial;
}

bool contest_is_won(const struct contest *c)
{
    return c->tried && c->ours;
}

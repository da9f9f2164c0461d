/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A contest: a few algorithms make a program's own calls in turn, the calls are
 * timed, and the fastest algorithm makes later calls of that size class. There
 * is one contest for each collective and class. It depends only on the calls
 * and on times that all ranks have agreed on, so all ranks take the same
 * algorithms.
 */
#ifndef DCOLL_CONTEST_H
#define DCOLL_CONTEST_H

#include "coll/schedule.h"

#define CONTEST_MOST   3 /* contenders; the first is that of the rules */
#define CONTEST_ROUNDS 3
#define CONTEST_ROUND  5 /* calls; the first prepares, and does not count */
#define CONTEST_TIMES  (CONTEST_MOST * CONTEST_ROUNDS * (CONTEST_ROUND - 1))
#define CONTEST_AFTER  32 /* calls, before the contest begins */

/* All-gather, all-to-all, broadcast. Not reductions: sums that round would
 * depend on times. */
#define CONTEST_COLLECTIVES 3
#define CONTEST_SIZES       23u /* classes: powers of two, up to 4 MiB */

struct contest {
    dcoll_args_t args; /* of the calls that count: those that most calls have */
    size_t all;        /* bytes of all blocks in them, if blocks differ */
    unsigned seen;     /* such calls, less others */
    unsigned others;   /* in a row: after CONTEST_AFTER it ends, undecided */
    unsigned calls;    /* timed, so far */
    unsigned count;    /* contenders; 0: it has not begun */
    bool over;
    const dcoll_algorithm_t *contenders[CONTEST_MOST];
    const dcoll_algorithm_t *winner; /* NULL: the rules' is as good */
    double seconds[CONTEST_TIMES];   /* of a contender: one after the other */
};

struct contests {
    struct contest of[CONTEST_COLLECTIVES][CONTEST_SIZES];
};

/* The contest for this call, or NULL: other algorithms are not plausible. */
struct contest *contest_of(struct contests *all, const dcoll_shape_t *shape,
                           const dcoll_args_t *args);
/* Chooses the algorithm of this call. The caller gives the rules' choice in
 * @algorithm and args->zero_copy; the contest may change both. True: the caller
 * times the call and records it. */
bool contest_next(struct contest *c, const dcoll_shape_t *shape,
                  dcoll_args_t *args, const dcoll_algorithm_t **algorithm);
/* True: it was the last call; the ranks must agree on c->seconds, and call
 * contest_decide(). */
bool contest_record(struct contest *c, double seconds);
/* By the slowest rank's times, which are the same on all ranks. */
void contest_decide(struct contest *c, const double *slowest);
/* Ends without a winner. */
void contest_abandon(struct contest *c);
/* May more of such calls lead to another algorithm? If the contest is one of
 * other calls of the class, only those do. */
bool contest_is_open(const struct contest *c, const dcoll_shape_t *shape,
                     const dcoll_args_t *args);

#endif

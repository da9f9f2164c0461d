/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do two samples differ? The rank test of H. B. Mann and D. R. Whitney (1947)
 * and the effect size of N. Cliff (1993); neither assumes a distribution.
 */
#ifndef BENCH_RANK_TEST_H
#define BENCH_RANK_TEST_H

typedef struct rank_test {
    double u;     /**< pairs (x, y) with y > x, ties count one half */
    double p;     /**< two-sided probability of such a U or a more extreme
                       one when there is no difference; 1 without values */
    double delta; /**< Cliff's delta: -1 all y are below all x … 1 above */
} rank_test_t;

/**
 * Compares @p x with @p y; both are sorted in place. Exact for up to 20 values
 * each without ties, else by the normal approximation with corrections for
 * ties and continuity.
 */
rank_test_t rank_test(double *x, unsigned nx, double *y, unsigned ny);

/**
 * Of @p n tests at once, replaces each p by the lowest rate of false
 * discoveries at which it is one: of those that are at or below a level, at
 * most this part has no difference, and if there is none at all, the
 * probability of any is the level (Y. Benjamini, Y. Hochberg, Journal of the
 * Royal Statistical Society B 57, 1995; for tests that depend on one another
 * as the points of one run do, positively: Y. Benjamini, D. Yekutieli, Annals
 * of Statistics 29, 2001). @return 0 or -1: no memory.
 */
int false_discovery(double *p, unsigned n);

#endif
